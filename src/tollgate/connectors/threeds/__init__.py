"""The side of the 3DS server in EMV 3-D Secure 2: a shopper is authenticated before money is asked for."""
