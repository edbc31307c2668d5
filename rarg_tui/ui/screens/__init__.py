"""The screens: the workbench and the dialogues over it."""
