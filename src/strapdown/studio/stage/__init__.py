"""The loaded session or recording, as the page sees it: signals, state, lights, commands."""
