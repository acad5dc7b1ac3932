//! A drag source: what a file manager does when files are dropped on a window (XDND, version 5).

use std::path::Path;
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConnectionExt as _, EventMask, PropMode, SELECTION_NOTIFY_EVENT,
    SelectionNotifyEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::common::TIMEOUT;

const VERSION: u32 = 5;

/// Drags a file over a window of this display and lets go; whether the window took it.
pub(crate) fn drop_on(display: &str, target: Window, file: &Path) -> bool {
    let (x, screen) = x11rb::connect(Some(display)).expect("a display");
    let (root, own) = (x.setup().roots[screen].root, x.generate_id().unwrap());
    let (class, none) = (WindowClass::INPUT_ONLY, Default::default());
    x.create_window(0, own, root, 0, 0, 1, 1, 0, class, 0, &none)
        .unwrap();
    let atom = |name: &str| {
        let asked = x.intern_atom(false, name.as_bytes()).unwrap();
        asked.reply().unwrap().atom
    };
    let tell = |what: &str, [a, b, c, d]: [u32; 4]| {
        let message = ClientMessageEvent::new(32, target, atom(what), [own, a, b, c, d]);
        x.send_event(false, target, EventMask::NO_EVENT, message)
            .unwrap();
    };
    let now = x11rb::CURRENT_TIME;
    x.set_selection_owner(own, atom("XdndSelection"), now)
        .unwrap();
    let place = x
        .translate_coordinates(target, root, 300, 300)
        .unwrap()
        .reply()
        .unwrap();
    let at = u32::from(place.dst_x as u16) << 16 | u32::from(place.dst_y as u16);
    tell("XdndEnter", [VERSION << 24, atom("text/uri-list"), 0, 0]);
    tell("XdndPosition", [0, at, now, atom("XdndActionCopy")]);
    let uri = format!("file://{}\r\n", encoded(file));
    let answer = |what| answer(&x, atom(what), &uri);
    if answer("XdndStatus")[1] & 1 == 0 {
        tell("XdndLeave", [0; 4]);
        return false;
    }
    tell("XdndDrop", [0, now, 0, 0]);
    answer("XdndFinished")[1] & 1 == 1
}

/// Waits for a message, and hands out the file meanwhile; its numbers.
fn answer(x: &RustConnection, kind: u32, uri: &str) -> [u32; 5] {
    let until = Instant::now() + TIMEOUT;
    x.flush().unwrap();
    loop {
        match x.poll_for_event().unwrap() {
            Some(Event::ClientMessage(message)) if message.type_ == kind => {
                return message.data.as_data32();
            }
            Some(Event::SelectionRequest(asked)) => {
                let (to, property, target) = (asked.requestor, asked.property, asked.target);
                let (replace, bytes) = (PropMode::REPLACE, uri.as_bytes());
                x.change_property8(replace, to, property, target, bytes)
                    .unwrap();
                let there = SelectionNotifyEvent {
                    response_type: SELECTION_NOTIFY_EVENT,
                    sequence: 0,
                    time: asked.time,
                    requestor: to,
                    selection: asked.selection,
                    target,
                    property,
                };
                x.send_event(false, to, EventMask::NO_EVENT, there).unwrap();
                x.flush().unwrap();
            }
            Some(_) => {}
            None => std::thread::sleep(Duration::from_millis(5)),
        }
        assert!(Instant::now() < until, "no answer within {TIMEOUT:?}");
    }
}

/// A path as a URI has it.
fn encoded(path: &Path) -> String {
    let letter = |byte: u8| match byte {
        b'/' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.to_str()
        .expect("a path in UTF-8")
        .bytes()
        .map(letter)
        .collect()
}
