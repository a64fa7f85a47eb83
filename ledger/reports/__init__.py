"""A value in, a string out: text for terminals, Markdown for pages, JSON for programs."""
