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
        let own = self.cameras.get(instance);
        own.or(self.drifting.get(instance)).unwrap_or(&self.camera)
    }

    /// The same, for a person to move it: one that serves all panels moves on from what this panel
    /// shows.
    pub fn camera_of_mut(&mut self, instance: usize) -> &mut Camera {
        self.stop_drifting(instance);
        self.cameras.get_mut(instance).unwrap_or(&mut self.camera)
    }

    /// Turns an unmoved camera of one of so many instances to a cell, seen through a panel of `panel`
    /// pixels; the camera that serves all then shows each panel its own part.
    pub fn drift_to(
        &mut self,
        (instance, instances): (usize, usize),
        cell: [f64; 2],
        (size, panel): (Size, [u32; 2]),
        glides: bool,
    ) {
        if !self.is_separate() {
            self.drifting.resize(instances, self.camera);
        }
        let own = self.cameras.get_mut(instance);
        if let Some(camera) = own.or(self.drifting.get_mut(instance)) {
            camera.drift_to(cell, size, panel, glides);
        }
    }

    /// Has the camera that serves all panels show what it showed in this one.
    pub fn stop_drifting(&mut self, instance: usize) {
        self.camera = *self.drifting.get(instance).unwrap_or(&self.camera);
        self.drifting.clear();
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
            self.drifting.clear();
        }
    }

    /// Goes on looking at the same cells of so many lattices, after their size or number has
    /// changed; those that came show what the shared camera does.
    pub fn follow_grid(&mut self, from: Size, to: Size, instances: usize) {
        for each in [&mut self.cameras, &mut self.drifting] {
            if !each.is_empty() {
                each.resize(instances, self.camera);
            }
        }
        if from != to {
            let each = self.cameras.iter_mut().chain(&mut self.drifting);
            let all = std::iter::once(&mut self.camera).chain(each);
            all.for_each(|camera| camera.follow_resize(from, to));
        }
    }

    /// Lets cameras glide on by a part of a whole glide; whether one still does.
    pub fn advance(&mut self, part: f64) -> bool {
        let each = self.cameras.iter_mut().chain(&mut self.drifting);
        let all = std::iter::once(&mut self.camera).chain(each);
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
    fn what_follows_life_is_each_panels_own_until_a_person_moves_it() {
        let (size, panel) = (Size::new(1024, 1024).unwrap(), [200, 200]);
        let place = (size, panel);
        let mut options = ViewOptions {
            camera: Camera::opening(2.0),
            ..Default::default()
        };
        let middle = |options: &ViewOptions, instance| {
            let shown = options.camera_of(instance).target_transform(size, panel);
            shown.to_cells([100.0; 2])
        };
        options.drift_to((1, 3), [100.0, 900.0], place, false);
        assert_eq!(middle(&options, 1), [100.0, 900.0]);
        assert_eq!(middle(&options, 0), [512.0; 2], "the others stay");
        assert!(options.camera_of(1).is_unmoved() && !options.is_separate());
        // More lattices, and larger ones: the same cells are seen.
        let mut larger = options.clone();
        larger.follow_grid(size, Size::new(2048, 2048).unwrap(), 6);
        assert_eq!(larger.drifting.len(), 6);
        // A glide is on its way there at first.
        options.drift_to((0, 3), [300.0, 512.0], place, true);
        let shown = options.camera_of(0).shown(size, panel);
        assert_eq!(shown.to_cells([100.0; 2]), [512.0; 2]);
        assert!(options.advance(1.0) && !options.advance(10.0));
        assert_eq!(middle(&options, 0), [300.0, 512.0]);
        // Whoever moves it moves all panels, from what this one shows.
        options.camera_of_mut(1).pan([20.0, 0.0], size, panel);
        assert_eq!([0, 1, 2].map(|it| middle(&options, it)), [[90.0, 900.0]; 3]);
        assert!(!options.camera_of(1).is_unmoved());
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
