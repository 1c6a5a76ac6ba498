"""What a page is made of, for whoever looks whether it is whole."""

from html.parser import HTMLParser

# These have no end, in HTML or in the drawings of our pages.
EMPTY = {"meta", "br", "path", "link", "img", "input", "hr", "rect"}


class Elements(HTMLParser):
    """The elements of a page in order, with what is left open."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.found, self.open, self.texts = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.found if name == tag]
