"""Result rows of who the shopper is and where: names, contact, address. Nothing about accounts and money."""

from tollgate.catalog.result_rows.row import Cause, Origin, Row, join_causes

CONTACT = join_causes(
    Row("100.700.801", "The identity document's number is absent or malformed: check customer.identificationDocId."),
    Row("100.900.101", "customer.email is not an e-mail address."),
    Row("100.900.401", "customer.ip is no IP address."),
    Row("100.900.450", "customer.birthDate is no date in the past, written yyyy-MM-dd."),
    Cause(Origin.FAULT, "missing, too long or malformed customer data"),
    Row("100.700.100", "The family name is absent: send customer.surname."),
    Row("100.700.101", "customer.surname takes no more than 50 characters."),
    Row("100.700.200", "The first name is absent: send customer.givenName."),
    Row("100.700.201", "customer.givenName takes no more than 50 characters."),
    Row("100.700.300", "The form of address is none we know."),
    Row("100.700.500", "customer.companyName has more characters than permitted."),
    Row("100.700.800", "The kind of identity document is absent or unknown: check customer.identificationDocType."),
    Row("100.700.802", "customer.identificationDocId has more characters than permitted."),
    Row("100.700.810", "An identity document is called for: send its customer.identificationDocType and number."),
    Row("100.900.100", "The e-mail address is absent: send customer.email."),
    Row("100.900.105", "customer.email has more characters than permitted."),
    Row("100.900.200", "customer.phone is no phone number: 7 to 25 characters, a digit or + first."),
    Row("100.900.300", "customer.mobile is no phone number: 7 to 25 characters, a digit or + first."),
    Row("100.900.301", "The mobile number is absent: send customer.mobile."),
    Row("100.900.400", "The shopper's IP address is absent: send customer.ip."),
    Cause(Origin.ABSENT, "titles"),
    Row("100.700.400", "The academic or other title is none we know."),
)

ADDRESS = join_causes(
    Row("100.800.302", "billing.city cannot be the name of a town."),
    Cause(Origin.FAULT, "missing, too long or malformed address"),
    Row("100.800.100", "The street is absent: send billing.street1."),
    Row("100.800.101", "billing.street1 and billing.street2 together take no more than 201 characters."),
    Row("100.800.102", "billing.street1 and billing.street2 contain nothing but digits: a street has a name."),
    Row("100.800.200", "The postal code is absent: send billing.postcode."),
    Row("100.800.201", "billing.postcode has more characters than permitted."),
    Row("100.800.202", "billing.postcode is none of the country's."),
    Row("100.800.300", "The town is absent: send billing.city."),
    Row("100.800.301", "billing.city has more characters than permitted."),
    Row("100.800.400", "billing.state is not a part of billing.country."),
    Row("100.800.401", "billing.state has more characters than permitted."),
    Row("100.800.500", "The country is absent: send billing.country."),
    Row("100.800.501", "billing.country is none of the two-letter codes of ISO 3166."),
)
