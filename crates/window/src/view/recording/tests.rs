use super::*;

fn image(size: [u32; 2], seed: u8) -> Image {
    let pixel = |i: u32| [seed.wrapping_add(i as u8), 40 * (i % 4) as u8, seed, 255];
    Image {
        width: size[0],
        height: size[1],
        rgba: (0..size[0] * size[1]).flat_map(pixel).collect(),
    }
}

/// Offers it until the encoder has room for it.
fn give(recorder: &mut Recorder, image: Image, at: Duration) {
    let taken = recorder.taken;
    while recorder.taken == taken {
        assert!(recorder.offer(image.clone(), at));
    }
}

fn recorded(name: &str, frames: u8) -> (tempfile::TempDir, Recorded) {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::begin(&folder.path().join(name), [12, 5]).unwrap();
    for frame in 0..frames {
        let at = Duration::from_millis(40 * u64::from(frame));
        give(&mut recorder, image([12, 5], frame), at);
    }
    assert!(recorder.progress().contains(name));
    let done = recorder.end()().unwrap();
    (folder, done)
}

#[test]
fn a_gif_has_every_picture_and_its_time() {
    let (_folder, done) = recorded("a.gif", 5);
    let mut options = ::gif::DecodeOptions::new();
    options.set_color_output(::gif::ColorOutput::RGBA);
    let file = std::fs::File::open(&done.path).unwrap();
    let mut reader = options.read_info(file).unwrap();
    let mut frames = 0;
    while let Some(frame) = reader.read_next_frame().unwrap() {
        assert_eq!(frame.delay, 4, "hundredths of a second");
        assert_eq!(frame.buffer[..], image([12, 5], frames).rgba[..]);
        frames += 1;
    }
    assert_eq!((frames, done.frames), (5, 5));
}

#[test]
fn numbered_pictures_have_a_file_each_and_the_line_that_makes_a_video() {
    let (folder, done) = recorded("a film, 100%.png", 3);
    for number in 1..=3 {
        let file = folder.path().join(format!("a film, 100%-000{number}.png"));
        let mut wanted = Vec::new();
        crate::view::picture_file::encode(&image([12, 5], number - 1), &mut wanted).unwrap();
        assert!(std::fs::read(file).unwrap() == wanted, "picture {number}");
    }
    assert_eq!(done.frames, 3);
    let video = done.video.unwrap();
    let of = format!("'{}/a film, 100%%-%04d.png'", folder.path().display());
    let line = format!("with: ffmpeg -framerate 25 -i {of} -frames:v 3 -vf '");
    assert!(video.contains(&line), "{video}");
    let file = format!("'{}/a film, 100%.mp4'", folder.path().display());
    assert!(video.ends_with(&file), "{video}");
}

#[test]
fn what_comes_too_fast_is_left_out_and_never_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let size = [400, 300];
    let mut recorder = Recorder::begin(&folder.path().join("a.gif"), size).unwrap();
    for frame in 0..60u8 {
        assert!(recorder.offer(image(size, frame), Duration::from_millis(frame.into())));
    }
    assert!(
        !recorder.offer(image([4, 4], 0), Duration::ZERO),
        "another size"
    );
    let (taken, left_out) = (recorder.taken, recorder.left_out);
    assert_eq!(taken + left_out, 60);
    assert_eq!(recorder.end()().unwrap().frames, taken);
}

#[test]
fn what_cannot_be_recorded_says_so_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let begin = |name: &str| {
        let error = Recorder::begin(&folder.path().join(name), [8, 8]).unwrap_err();
        error.to_string()
    };
    for name in ["a.avi", "a.apng", ".png"] {
        assert!(begin(name).contains("must end in .gif or .png"));
    }
    let mp4 = begin("a.mp4");
    assert!(mp4.contains("/a.png, and make a video of them with: ffmpeg -framerate 25 -i "));
    assert!(begin("missing/a.png").contains("there is no folder"));
    assert!(begin("missing/a.gif").contains("there is no folder"));
    let recorder = Recorder::begin(&folder.path().join("c.gif"), [8, 8]).unwrap();
    drop(recorder.end()());
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn nothing_that_nobody_named_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = folder.path().join("of-now.gif");
    std::fs::write(&wanted, "an older one").unwrap();
    let record = || {
        let mut recorder = Recorder::begin_beside(&wanted, [12, 5]).unwrap();
        give(&mut recorder, image([12, 5], 1), Duration::ZERO);
        recorder.end()().unwrap().path
    };
    for name in ["of-now-2.gif", "of-now-3.gif"] {
        assert_eq!(record(), folder.path().join(name));
    }
    assert_eq!(std::fs::read(&wanted).unwrap(), b"an older one");
}
