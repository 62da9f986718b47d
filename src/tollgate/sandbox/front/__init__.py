"""The front page of a test host: credentials, a test payment, the newest payments, the inbox and the clock."""
