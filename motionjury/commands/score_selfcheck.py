"""``motionjury score selfcheck``: whether a released model opens and reproduces its figure."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from corpus.problems import InputError
from motionjury.options import JsonOption, print_json

if TYPE_CHECKING:
    from evaluators.models import ModelFiles, ModelSpec

FilesOption = Annotated[
    Path | None,
    typer.Option("--files", help="Folder in the layout of the model's official release."),
]
FileOption = Annotated[
    list[str] | None,
    typer.Option("--file", help="KEY=PATH: one file of the model; may be repeated."),
]
ModelOptionOption = Annotated[
    list[str] | None,
    typer.Option("--option", help="NAME=VALUE: an option of the model; may be repeated."),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Load Python objects in checkpoints too, running what they say. Only for files whose "
        "maker you trust.",
    ),
]
DeviceOption = Annotated[
    str, typer.Option("--device", help="auto, cpu, or a GPU as torch names it.")
]


def selfcheck_command(
    model: Annotated[
        str | None, typer.Argument(help="Name of the model; without one, all are listed.")
    ] = None,
    files: FilesOption = None,
    file: FileOption = None,
    option: ModelOptionOption = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="HumanML3D's folder: test.txt, texts, new_joint_vecs."),
    ] = None,
    trust: TrustOption = False,
    device: DeviceOption = "auto",
    seed: Annotated[int, typer.Option("--seed", help="Seed of the pools.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Open a released model from your files and reproduce a published figure.

    Says which files are missing, where they are not there. Exit code 0 when the figure came out or
    none is known, 1 when it did not, 2 when a file is missing or not what it should be.

    Example: motionjury score selfcheck humanml3d --files text-to-motion --data HumanML3D
    """
    from evaluators.registry import MODELS, get_model

    if model is None:
        _list(list(MODELS.values()), as_json)
        return
    from evaluators.models import ModelFiles

    spec = get_model(model)
    given = {key: Path(path) for key, path in pairs(file, "--file").items()}
    if data is not None and (data / "texts").is_dir() and "texts" in {n.key for n in spec.needs}:
        given.setdefault("texts", data / "texts")
    found = ModelFiles(spec, files, given, pairs(option, "--option"), trust=trust, device=device)
    result = _check(spec, found, data, seed)
    if as_json:
        print_json(result)
    else:
        _print(spec, result)
    if result["missing"]:
        print(f"motionjury: {spec.name} not run: {len(result['missing'])} missing", file=sys.stderr)
        raise typer.Exit(2)
    if result["outcome"] == "differs":
        raise typer.Exit(1)


def pairs(given: Sequence[str] | None, name: str) -> dict[str, str]:
    """Read ``KEY=VALUE`` options.

    Args:
        given: The options as typed.
        name: Name of the option, for messages.

    Raises:
        InputError: One without ``=``, or a key given twice.
    """
    found: dict[str, str] = {}
    for words in given or ():
        key, sign, value = words.partition("=")
        if not sign or not key or not value:
            raise InputError(f"{name}: expected KEY=VALUE, got {words}")
        if key in found:
            raise InputError(f"{name}: {key} is given twice")
        found[key] = value
    return found


def _check(spec: ModelSpec, files: ModelFiles, data: Path | None, seed: int) -> dict[str, Any]:
    from evaluators import selfcheck

    reads_joints = spec.name in ("motionpatches", "sgar")
    folder = "new_joints" if reads_joints else "new_joint_vecs"
    missing = files.missing()
    measured = spec.kind == "embedding" and spec.name != "snapmogen"
    if measured:
        missing += selfcheck.missing_data(data, folder)
    result: dict[str, Any] = {
        "model": spec.name,
        "outcome": "not run",
        "reason": "",
        "missing": missing,
        "results": {},
        "published": spec.published.model_dump() if spec.published else None,
        "difference": None,
        "n": 0,
        "dropped": {},
        "fingerprint": None,
        "unused_keys": [],
        "assumed": list(spec.assumed),
        "notes": [],
    }
    if missing:
        _refuse_anothers(spec, files)
        result["reason"] = "files are missing"
        return result
    opened = spec.opener(files)
    result["fingerprint"] = opened.fingerprint
    result["unused_keys"] = list(getattr(opened, "unused", ()))
    result["notes"] = list(getattr(opened, "notes", ()))
    if not measured or data is None:
        result["outcome"] = "opened"
        result["reason"] = "no figure is known that HumanML3D's test split could reproduce"
        return result
    pooled = spec.name in ("humanml3d", "clam")
    test = selfcheck.read_test_set(
        data, folder, shortest=40 if pooled else 1, below=200 if pooled else None
    )
    embed = opened.embed_joints if reads_joints else opened.embed_features
    found = selfcheck.check_embeddings(opened, test.captions, embed(test.arrays, test.ids), seed)
    result |= {"results": found.results, "n": found.n, "dropped": test.dropped}
    if spec.published is None or spec.published.metric not in found.results:
        result["outcome"] = "measured"
        result["reason"] = (
            "no published figure is known to us"
            if spec.published is None
            else f"too few clips for {spec.published.metric}"
        )
        return result
    difference = found.results[spec.published.metric] - spec.published.value
    result["difference"] = difference
    near = abs(difference) <= spec.published.within
    result["outcome"] = "reproduced" if near else "differs"
    return result


def _refuse_anothers(spec: ModelSpec, files: ModelFiles) -> None:
    """Refuse a folder whose checkpoint is another model's: what is missing would mislead."""
    from evaluators.checkpoints import read_weights
    from evaluators.weights import SIGNATURES

    checkpoint, name = files.get("checkpoint"), "TMR" if spec.name == "temos" else spec.title
    if checkpoint is not None and name in SIGNATURES:
        read_weights(checkpoint, trust=files.trust).require(name)


def _print(spec: ModelSpec, result: dict[str, Any]) -> None:
    print(
        f"{spec.title}: {result['outcome']}"
        + (f" ({result['reason']})" if result["reason"] else "")
    )
    for words in result["missing"]:
        print(f"  missing: {words}")
    for name, value in result["results"].items():
        print(f"  {name}: {value:.2f} %")
    if spec.published is not None:
        figure = spec.published
        print(f"  published {figure.metric}: {figure.value:.2f} % ({figure.source})")
        if result["difference"] is not None:
            print(f"  difference: {result['difference']:+.2f} points, allowed {figure.within}")
    if result["n"]:
        dropped = ", ".join(f"{n} {why}" for why, n in result["dropped"].items()) or "none"
        print(f"  clips: {result['n']}; left out: {dropped}")
    if result["unused_keys"]:
        print(f"  keys of the checkpoint without a place: {len(result['unused_keys'])}")
    for words in (*result["assumed"], *result["notes"]):
        print(f"  note: {words}")


def _list(specs: Sequence[ModelSpec], as_json: bool) -> None:
    if as_json:
        print_json([spec.model_dump(exclude={"opener"}) for spec in specs])
        return
    for spec in specs:
        print(f"{spec.name}: {spec.title} ({spec.kind}; {spec.native_metric}; {spec.licence})")
        print(f"  {spec.release}")
        for need in spec.needs:
            optional = "" if need.required else ", if there is one"
            print(f"  --file {need.key}=PATH: {need.what}{optional}")
        for name, what in spec.options.items():
            print(f"  --option {name}=VALUE: {what}")
