from decimal import Decimal, InvalidOperation


def parse(text):
    try:
        return int(Decimal(text) * 100)
    except InvalidOperation as error:
        raise ValueError(text) from error
