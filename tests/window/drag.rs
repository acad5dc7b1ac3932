//! A drag source: what a file manager does when files are dropped on a window (XDND, version 5).

use std::path::Path;
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, PropMode, SELECTION_NOTIFY_EVENT,
    SelectionNotifyEvent, SelectionRequestEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::common::TIMEOUT;

const VERSION: u32 = 5;

/// Somebody who drags files.
pub(crate) struct Source {
    x: RustConnection,
    root: Window,
    own: Window,
    /// What is asked for as `text/uri-list`.
    uris: String,
}

impl Source {
    /// One on this display, with these files.
    pub(crate) fn new(display: &str, files: &[&Path]) -> Source {
        let (x, screen) = x11rb::connect(Some(display)).expect("a display");
        let (root, visual) = {
            let screen = &x.setup().roots[screen];
            (screen.root, screen.root_visual)
        };
        let own = x.generate_id().unwrap();
        let class = WindowClass::INPUT_OUTPUT;
        x.create_window(
            0,
            own,
            root,
            0,
            0,
            1,
            1,
            0,
            class,
            visual,
            &Default::default(),
        )
        .unwrap();
        let uri = |file: &&Path| format!("file://{}\r\n", encoded(file));
        let uris = files.iter().map(uri).collect();
        Source { x, root, own, uris }
    }

    /// Drags them over this window and lets go; whether the window took them.
    pub(crate) fn drop_on(&self, target: Window) -> bool {
        let selection = self.atom("XdndSelection");
        let now = x11rb::CURRENT_TIME;
        self.x
            .set_selection_owner(self.own, selection, now)
            .unwrap();
        let version = self.property(target, "XdndAware");
        assert!(version >= VERSION, "the window takes drops: {version}");
        let place = self
            .x
            .translate_coordinates(target, self.root, 300, 300)
            .unwrap()
            .reply()
            .unwrap();
        let at = u32::from(place.dst_x as u16) << 16 | u32::from(place.dst_y as u16);
        let [list, copy] = ["text/uri-list", "XdndActionCopy"].map(|name| self.atom(name));
        self.tell(target, "XdndEnter", [VERSION << 24, list, 0, 0]);
        self.tell(target, "XdndPosition", [0, at, now, copy]);
        let status = self.answer("XdndStatus");
        if status[1] & 1 == 0 {
            self.tell(target, "XdndLeave", [0; 4]);
            return false;
        }
        self.tell(target, "XdndDrop", [0, now, 0, 0]);
        self.answer("XdndFinished")[1] & 1 == 1
    }

    fn atom(&self, name: &str) -> u32 {
        let asked = self.x.intern_atom(false, name.as_bytes()).unwrap();
        asked.reply().unwrap().atom
    }

    /// The first number of a window's property.
    fn property(&self, window: Window, name: &str) -> u32 {
        let (name, any) = (self.atom(name), AtomEnum::ANY);
        let asked = self.x.get_property(false, window, name, any, 0, 1).unwrap();
        let reply = asked.reply().unwrap();
        reply.value32().and_then(|mut all| all.next()).unwrap_or(0)
    }

    /// Sends a message whose first number is this window.
    fn tell(&self, target: Window, what: &str, [a, b, c, d]: [u32; 4]) {
        let kind = self.atom(what);
        let message = ClientMessageEvent::new(32, target, kind, [self.own, a, b, c, d]);
        self.x
            .send_event(false, target, EventMask::NO_EVENT, message)
            .unwrap();
        self.x.flush().unwrap();
    }

    /// Waits for a message, and hands out the files meanwhile; its numbers.
    fn answer(&self, what: &str) -> [u32; 5] {
        let kind = self.atom(what);
        let until = Instant::now() + TIMEOUT;
        loop {
            match self.x.poll_for_event().unwrap() {
                Some(Event::ClientMessage(message)) if message.type_ == kind => {
                    return message.data.as_data32();
                }
                Some(Event::SelectionRequest(asked)) => self.hand_out(asked),
                Some(_) => {}
                None => std::thread::sleep(Duration::from_millis(5)),
            }
            assert!(Instant::now() < until, "no {what} within {TIMEOUT:?}");
        }
    }

    fn hand_out(&self, asked: SelectionRequestEvent) {
        let SelectionRequestEvent { requestor, .. } = asked;
        assert_eq!(asked.target, self.atom("text/uri-list"));
        self.x
            .change_property8(
                PropMode::REPLACE,
                requestor,
                asked.property,
                asked.target,
                self.uris.as_bytes(),
            )
            .unwrap();
        let there = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor,
            selection: asked.selection,
            target: asked.target,
            property: asked.property,
        };
        self.x
            .send_event(false, requestor, EventMask::NO_EVENT, there)
            .unwrap();
        self.x.flush().unwrap();
    }
}

/// A path as a URI has it.
fn encoded(path: &Path) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(byte);
    let bytes = path.to_str().expect("a path in UTF-8").bytes();
    bytes
        .map(|byte| {
            if plain(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}
