"""Processors with the Stripe API: payment intents over HTTPS, and their events. Nothing is sent from here."""
