"""What each action of the registry does: one mixin of the workbench's screen for each concern."""
