"""What is searched: files, decoding, paragraphs, fingerprints."""
