"""Between the pages and the simulation: access, the web server, clients, and the process that simulates."""
