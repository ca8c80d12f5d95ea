"""The static site: collects bounded pieces of the tables and renders them as one page that needs no server."""
