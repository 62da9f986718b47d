"""Result rows of shoppers who had to prove themselves, to the issuer or a bank, and did not. No declines."""

from __future__ import annotations

from tollgate.catalog.result_rows.row import Row

SOFT_DECLINE = (
    Row("300.100.100", "The issuer wants to see the shopper first: repeat the payment with a 3-D Secure challenge."),
)

NO_AUTHENTICATION = (
    Row("000.400.101", "Not paid: the card does not take part in 3-D Secure, or nobody could authenticate it."),
    Row("000.400.102", "Not paid: the shopper has not signed up for 3-D Secure."),
    Row("000.400.103", "Not paid: 3-D Secure failed for technical reasons."),
    Row("000.400.104", "Not paid: this channel is not, or not rightly, set up for 3-D Secure."),
    Row("000.400.105", "Not paid: 3-D Secure does not run on the shopper's device."),
    Row("000.400.106", "Not paid: the issuer's authentication answer could not be verified."),
    Row("000.400.107", "Not paid: the card scheme's directory did not respond."),
    Row("000.400.108", "Not paid: no issuer known to 3-D Secure has this card number."),
    Row("000.400.109", "Not paid: the card does not take part in version 2 of 3-D Secure."),
    Row("000.400.111", "Not paid: the authentication by data alone did not work."),
    Row("000.400.112", "Not paid: authenticating without the shopper (3RI) is not open to this merchant."),
    Row("000.400.113", "Not paid: the issuer speaks another version of 3-D Secure."),
    Row("000.400.200", "Not paid: the risk check did not respond."),
)

AUTHENTICATION = (
    Row("100.390.100", "3-D Secure ended with a no."),
    Row("100.390.101", "The shopper authenticated another amount or currency than is to be paid."),
    Row("100.390.102", "The authentication answer does not hold up."),
    Row("100.390.103", "The authentication answer is not signed as it should be."),
    Row("100.390.104", "The authentication answer belongs to another payment."),
    Row("100.390.105", "3-D Secure could not be completed for technical reasons."),
    Row("100.390.106", "3-D Secure could not be completed because of how the channel is set up."),
    Row("100.390.107", "3-D Secure could not be completed: the issuer was unable to authenticate."),
    Row("100.390.108", "3-D Secure could not be completed: the merchant is not signed up with the scheme."),
    Row("100.390.109", "The scheme reports the shopper as not authenticated."),
    Row("100.390.110", "3-D Secure ended: no issuer in the programme has this card number."),
    Row("100.390.111", "3-D Secure ended: the card scheme's directory did not respond."),
    Row("100.390.112", "3-D Secure ended: one of the systems involved failed.", "Technical Error in 3D system"),
    Row("100.390.113", "3-D Secure ended: the shopper's device is not up to it."),
    Row("100.390.114", "The issuer declines to authenticate this shopper."),
    Row("100.390.115", "An authentication message was not written as the protocol wants."),
    Row("100.390.116", "The authentication system did not let us in."),
    Row("100.390.117", "The authentication request carries values the protocol does not allow."),
    Row("100.390.118", "The issuer did not authenticate the shopper because it fears fraud."),
    Row("100.390.119", "The card was authenticated too often: wait before another try."),
    Row("100.390.120", "The authentication without a payment ended with a no."),
    Row("100.390.121", "The authentication without the shopper (3RI) ended with a no."),
    Row("100.390.122", "The authentication outside the browser ended with a no."),
    Row("100.390.123", "The scheme was asked for its card ranges too often."),
    Row("100.390.124", "The shopper broke off the authentication."),
    Row("800.400.200", "The authentication data that came with the payment is not valid: check threeDSecure.*."),
)

ABANDONED = (
    Row("100.395.101", "The shopper's bank is not part of Giropay."),
    Row("100.395.102", "The shopper's account cannot be used with Giropay."),
    Row("100.395.501", "The online transfer was not finished in time."),
    Row("100.395.502", "The bank gave up waiting for the online transfer."),
    Row("100.396.101", "The shopper called the payment off."),
    Row("100.396.102", "The shopper left the payment unconfirmed."),
    Row("100.396.103", "The payment stayed open for too long and was closed."),
    Row("100.396.104", "The payment did not come back; the shopper seems to have called it off."),
    Row("100.396.106", "The shopper did not agree to the terms of the payment method."),
    Row("100.396.201", "The merchant called the payment off."),
    Row("100.397.101", "The provider reports that the shopper called the payment off."),
    Row("100.397.102", "The provider reports that the acquirer turned the payment down."),
)
