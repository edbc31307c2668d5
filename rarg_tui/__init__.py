"""rarg: search a directory of text the RARG way, where relevance decides what ripgrep reads first."""

__version__ = "0.1.0"
