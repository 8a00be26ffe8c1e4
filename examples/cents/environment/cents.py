def parse(text):
    return int(float(text))
