//! An egui and what draws it.

use crate::dialogs::style;
use crate::scene::context;

/// See the module.
pub(super) struct Interface {
    pub(super) context: egui::Context,
    pub(super) overlay: egui_wgpu::Renderer,
    /// The unit of type that egui's style is made for.
    dressed: f32,
}

impl Interface {
    /// For targets of this format.
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Interface {
        let options = egui_wgpu::RendererOptions {
            dithering: false,
            ..Default::default()
        };
        Interface {
            context: context(),
            overlay: egui_wgpu::Renderer::new(device, format, options),
            dressed: 0.0,
        }
    }

    /// Makes egui's style fit a unit of type.
    pub(super) fn dress(&mut self, unit: f32) {
        if unit != self.dressed {
            self.dressed = unit;
            style::dress(&self.context, unit);
        }
    }
}
