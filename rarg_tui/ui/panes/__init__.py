"""The panes of the workbench: each renders a part of the run's state and keeps none of its own."""
