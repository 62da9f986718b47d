"""The shopper's payment form and the page of a payment link."""
