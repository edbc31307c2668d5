"""What a person sees: the Textual application."""
