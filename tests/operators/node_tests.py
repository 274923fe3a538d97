"""Writes ONNX's node tests of the onnx that this Python has, as folders like those of libonnx-testdata: node_tests.py FOLDER"""
import json
import os
import sys

from onnx import TensorProto, numpy_helper
from onnx.backend.test.case import node


def message_of(value, info):
    if isinstance(value, TensorProto):
        return value
    for kind, convert in (("sequence_type", numpy_helper.from_list), ("optional_type", numpy_helper.from_optional)):
        if info.type.HasField(kind):
            return convert(value, info.name)
    return numpy_helper.from_array(value, info.name)


def main():
    for case in node.collect_testcases(None):
        folder = os.path.join(sys.argv[1], "node", case.name)
        os.makedirs(folder)
        with open(os.path.join(folder, "model.onnx"), "wb") as file:
            file.write(case.model.SerializeToString())
        with open(os.path.join(folder, "data.json"), "w", encoding="utf-8") as file:
            json.dump({"rtol": case.rtol, "atol": case.atol}, file)
        for number, values in enumerate(case.data_sets):
            data = os.path.join(folder, f"test_data_set_{number}")
            os.makedirs(data)
            for kind, items, infos in (("input", values[0], case.model.graph.input), ("output", values[1], case.model.graph.output)):
                for place, value in enumerate(items):
                    with open(os.path.join(data, f"{kind}_{place}.pb"), "wb") as file:
                        file.write(message_of(value, infos[place]).SerializeToString())


if __name__ == "__main__":
    main()
