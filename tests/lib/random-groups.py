"""random-groups.py FIRST COUNT: random manifests with sizes with bounds, whose tasks form tile groups: N.yaml for the
seeds N from FIRST on. Prints for each of them N and sizes to run at, "NAME=SIZE ..." between semicolons."""
import random
import sys


class Manifest:
    """A manifest under construction. Values are rows of a width, in tensors of three dimensions; [a, b] or [a, b, 1]
    are numbers for rows."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.wide = self.random.random() < 0.25
        self.width = "w" if self.wide else self.random.choice([8, 16, 24, 64])
        self.bounds = {"a": (1, self.random.choice([3, 8])), "b": (1, self.random.choice([40, 129, 300]))}
        if self.wide:
            self.bounds["w"] = (8, 32)
        self.tensors, self.tasks, self.values = [], [], []
        self.tensor("x0", self.width)
        self.tensor("x1", self.width)
        self.values = [("x0", self.width), ("x1", self.width)]

    def tensor(self, name, width, role=""):
        shape = "a, b, %s" % width
        self.tensors.append("  %s: {dtype: f32, shape: [%s]%s}" % (name, shape, role))

    def task(self, kernel, width, *inputs, blocks=""):
        """A task with one result, a new value."""
        name = "t%d" % len(self.tasks)
        self.tensor(name, width)
        self.tasks.append("  - {name: k%d, kernel: %s, args: [%s]%s, scope: s}" %
                          (len(self.tasks), kernel, ", ".join([*inputs, name]), blocks))
        self.values.append((name, width))

    def constant(self, shape):
        name = "c%d" % len(self.tensors)
        self.tensors.append("  %s: {dtype: f32, shape: [%s]}" % (name, shape))
        return name

    def step(self):
        value, width = self.random.choice(self.values[-3:])
        alike = [name for name, other in self.values if other == width]
        columns = [name for name, other in self.values if other == 1]
        kind = self.random.choice(["add", "add", "bias", "sums", "column", "product", "twice", "softly", "blocked"])
        if kind == "add":
            self.task("add", width, value, self.random.choice(alike))
        elif kind == "bias":
            self.task("bias", width, value, self.constant(width))
        elif kind == "sums" and width != 1:
            self.task("sums", 1, value)
        elif kind == "column" and columns:
            self.task("column", width, value, self.random.choice(columns))
        elif kind == "product" and width != "w":
            other = self.random.choice([8, 16, 40])
            self.task("product", other, value, self.constant("%d, %d" % (width, other)))
        elif kind == "blocked":
            self.task("blocked", width, value, blocks=", blocks: %d" % self.random.choice([2, 3, 5, 8]))
        elif kind == "softly":
            self.task("softly", width, value)
        elif value[0] == "t":
            self.tasks.append("  - {name: k%d, kernel: twice, args: [%s], scope: s}" % (len(self.tasks), value))

    def sizes(self):
        least = {name: low for name, (low, _) in self.bounds.items()}
        most = {name: high for name, (_, high) in self.bounds.items()}
        others = [{name: self.random.randint(*bounds) for name, bounds in self.bounds.items()} for _ in range(2)]
        return [least, most, *others]

    def write(self, path):
        for _ in range(self.random.randint(4, 10)):
            self.step()
        tile = self.random.choice(["", "", 'tile-bytes=%d' % self.random.choice([256, 1024, 8192])])
        dims = ["%s: %d..%d%s" % (name, low, high, self.random.choice(["", "@%d" % ((low + high) // 2)]))
                for name, (low, high) in self.bounds.items()]
        with open(path, "w", encoding="utf-8") as file:
            print("sklink: 1", "dims: {%s}" % ", ".join(dims), "tensors:", *self.tensors, "tasks:", *self.tasks,
                  "scopes:", '  s: {options: "%s"}' % tile, sep="\n", file=file)


for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
    manifest = Manifest(seed)
    manifest.write("%d.yaml" % seed)
    print(seed, "; ".join(" ".join("%s=%d" % size for size in sizes.items()) for sizes in manifest.sizes()), sep=";")
