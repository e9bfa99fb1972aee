"""The campaign file: what varies, how often, what is measured; the keys of its runs."""
