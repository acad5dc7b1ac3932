//! One camera for all panels, or one each.

use crate::{Camera, ViewOptions};
use life::Size;

impl ViewOptions {
    /// Whether each panel has a camera of its own.
    pub fn is_separate(&self) -> bool {
        !self.cameras.is_empty()
    }

    /// The camera of an instance's panel.
    pub fn camera_of(&self, instance: usize) -> &Camera {
        self.cameras.get(instance).unwrap_or(&self.camera)
    }

    /// The same, for the user to move it.
    pub fn camera_of_mut(&mut self, instance: usize) -> &mut Camera {
        self.cameras.get_mut(instance).unwrap_or(&mut self.camera)
    }

    /// Pixels per cell that are wanted, of one panel alone or at least of all; `None` where a whole
    /// lattice is to be seen in any.
    pub fn cell_pixels(&self, single: Option<usize>) -> Option<f64> {
        match single {
            Some(instance) => self.camera_of(instance).cell_pixels(),
            None if self.is_separate() => {
                let mut each = self.cameras.iter().map(Camera::cell_pixels);
                each.try_fold(f64::INFINITY, |least, it| Some(least.min(it?)))
            }
            None => self.camera.cell_pixels(),
        }
    }

    /// Gives each of this many panels a camera of its own, which shows what the one did; or one to
    /// all, which shows what the selected panel's did.
    pub fn toggle_separate(&mut self, instances: usize, selected: usize) {
        if self.is_separate() {
            self.camera = *self.camera_of(selected);
            self.cameras.clear();
        } else {
            self.cameras = (0..instances).map(|it| *self.camera_of(it)).collect();
        }
    }

    /// Goes on looking at the same cells of so many lattices, after their size or number has
    /// changed; those that came show what the shared camera does.
    pub fn follow_grid(&mut self, from: Size, to: Size, instances: usize) {
        if self.is_separate() {
            self.cameras.resize(instances, self.camera);
        }
        if from != to {
            let all = std::iter::once(&mut self.camera).chain(&mut self.cameras);
            all.for_each(|camera| camera.follow_resize(from, to));
        }
    }

    /// Lets cameras glide on by a part of a whole glide; whether one still does.
    pub fn advance(&mut self, part: f64) -> bool {
        let all = std::iter::once(&mut self.camera).chain(&mut self.cameras);
        // All of them, and not only as far as the first that still does.
        all.filter_map(|camera| camera.advance(part).then_some(()))
            .count()
            > 0
    }

    /// Whether a panel of `panel` pixels of this instance shows less than all of it.
    pub fn is_zoomed(&self, instance: usize, size: Size, panel: [u32; 2]) -> bool {
        self.camera_of(instance).is_zoomed(size, panel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_follow_another_size_and_number() {
        let [small, large] = [100, 301].map(|side| Size::new(side, side).unwrap());
        let panel = [200, 200];
        let mut options = ViewOptions::default();
        options.camera.zoom(8.0, small, panel);
        options.toggle_separate(2, 0);
        options
            .camera_of_mut(1)
            .centre_on([30.0, 40.0], small, panel);
        let before = options.camera_of(1).target_transform(small, panel);
        options.follow_grid(small, large, 3);
        let after = options.camera_of(1).target_transform(large, panel);
        assert_eq!(after, before.resized(small, large));
        assert_eq!(after.origin[0] - before.origin[0], 100.0);
        let shared = options.camera;
        assert_eq!(*options.camera_of(2), shared);
        options.camera_of_mut(2).fit();
        assert_eq!(options.camera, shared, "a camera of its own");
        options.follow_grid(large, small, 1);
        options.follow_grid(small, small, 2);
        assert_eq!(*options.camera_of(1), options.camera);
    }

    #[test]
    fn separate_cameras_start_as_the_shared_one_and_it_takes_the_selected_ones() {
        let (size, panel) = (Size::new(512, 512).unwrap(), [200, 200]);
        let mut options = ViewOptions::default();
        options.camera.zoom(5.0, size, panel);
        let shared = options.camera;
        options.toggle_separate(3, 1);
        assert!((0..3).all(|instance| *options.camera_of(instance) == shared));
        let pixels = options.cell_pixels(None);
        options.camera_of_mut(1).zoom(2.0, size, panel);
        assert_eq!(options.cell_pixels(None), pixels, "the least of all");
        options.camera_of_mut(2).fit();
        assert_eq!(options.cell_pixels(None), None, "one is seen whole");
        assert!(options.cell_pixels(Some(1)) > pixels);
        let second = *options.camera_of(1);
        assert!(second != shared && *options.camera_of(0) == shared);
        assert!(options.is_zoomed(0, size, panel) && !options.is_zoomed(2, size, panel));
        options.toggle_separate(3, 1);
        assert!((0..3).all(|instance| *options.camera_of(instance) == second));
    }
}
