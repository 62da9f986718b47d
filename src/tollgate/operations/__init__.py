"""Operations that several flows share, such as routes, signatures and idempotency. They do not know HTTP."""
