"""Widgets that know nothing of rarg: lists, charts, the document, plain text."""
