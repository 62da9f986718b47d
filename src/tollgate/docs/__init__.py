"""The documentation that browsers show: pages made from the texts of `docs/` and from rows. No text is written here."""
