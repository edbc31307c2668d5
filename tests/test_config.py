from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rarg_tui import config
from rarg_tui.config import Price, Settings, load
from rarg_tui.errors import RargError
from rarg_tui.toml_file import TomlFile


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for field in dataclasses.fields(Settings):
        monkeypatch.delenv(f"RARG_{field.name.upper()}", raising=False)
    monkeypatch.setattr(config, "config_dir", lambda: tmp_path / "own")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path | None, flags: dict[str, object] | None = None) -> str:
    with pytest.raises(RargError) as caught:
        load(path, flags or {})
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_setting_has_a_kind() -> None:
    assert list(config._KINDS) == [field.name for field in dataclasses.fields(Settings)]


def test_without_anything_the_defaults_hold() -> None:
    settings, origins = load(None, {})
    assert settings == Settings()
    assert set(origins.values()) == {"default"}
    assert list(origins) == list(config._KINDS)


def test_flag_over_environment_over_file_over_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, 'pool = 100\nshow = 10\nranker = "lexical"\n\ntheme = "rarg-light"\n')
    monkeypatch.setenv("RARG_SHOW", "20")
    monkeypatch.setenv("RARG_RANKER", "static")
    settings, origins = load(path, {"ranker": "dense", "pool": None, "command": "recall", "quiet": True})
    assert (settings.pool, settings.show, settings.ranker, settings.theme) == (100, 20, "dense", "rarg-light")
    assert origins["pool"] == f"{path}, line 1"
    assert origins["theme"] == f"{path}, line 5"
    assert origins["show"] == "environment RARG_SHOW"
    assert origins["ranker"] == "flag"
    assert origins["rerank"] == "default"


def test_the_users_own_file_is_read_if_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "config.toml").write_text("pool = 7")
    assert load(None, {})[0].pool == 7


def test_a_home_that_is_a_file_is_a_home_without_settings(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("")
    assert load(None, {})[0] == Settings()


def test_all_kinds_of_value(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        corpus = "papers"
        cache = "/var/cache/rarg"
        model = "gpt-5.4-mini"
        base_url = "http://localhost:8000/v1"
        profile = "bright"
        rerank = "off"
        match_model = "dense"
        cross_encoder = "models/judge"
        sandbox = "bwrap"
        store = "milvus"
        store_uri = "vectors.db"
        quota = 0
        ascii = true
        keys = { step = "s,f8" }
        [prices."gpt-5.4-mini"]
        input = 0.25
        output = 2
        """,
    )
    settings, _ = load(path, {})
    assert settings.corpus == tmp_path / "papers", "relative to the file"
    assert settings.cache == Path("/var/cache/rarg")
    assert settings.keys == {"step": "s,f8"}
    assert settings.prices == {"gpt-5.4-mini": Price(0.25, 2.0)}
    assert settings.sandbox == "bwrap"
    assert (settings.store, settings.store_uri) == ("milvus", tmp_path / "vectors.db")
    assert settings.match_model == "dense"
    assert settings.cross_encoder == tmp_path / "models/judge", "relative to the file"
    assert (settings.quota, settings.ascii, settings.profile, settings.rerank) == (0, True, "bright", "off")


def test_a_home_directory_is_put_in_for_its_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("RARG_CACHE", "~/cache")
    settings, _ = load(written(tmp_path, 'corpus = "~/papers"'), {})
    assert settings.corpus == Path("/home/someone/papers")
    assert settings.cache == Path("/home/someone/cache")


@pytest.mark.parametrize("text", ["", "  "])
def test_empty_variables_are_not_set(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in config._KINDS:
        monkeypatch.setenv(f"RARG_{name.upper()}", text)
    assert load(None, {})[0] == Settings()


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("True", True), ("on", True), ("no", False), ("0", False)]
)
def test_switches_in_the_environment(text: str, value: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RARG_ASCII", text)
    assert load(None, {})[0].ascii is value


@pytest.mark.parametrize(
    ("name", "text"), [("POOL", "many"), ("POOL", "0"), ("QUOTA", "-1"), ("SHOW", "1.5"), ("ASCII", "maybe")]
)
def test_a_bad_variable_is_named(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"RARG_{name}", text)
    message = refusal(None)
    assert f"RARG_{name}" in message
    assert f"{name.lower()} must be" in message
    assert text in message


def test_a_bad_flag_is_named() -> None:
    assert refusal(None, {"base_url": "localhost"}).startswith("--base-url must be an address")


def test_a_store_is_a_file_or_a_server() -> None:
    assert load(None, {"store_uri": "here/v.db"})[0].store_uri == Path("here/v.db")
    assert load(None, {"store_uri": "https://host:19530"})[0].store_uri == "https://host:19530"
    assert "must be a file such as vectors.db, or an address" in refusal(None, {"store_uri": "vectors"})
    message = refusal(None, {"store_uri": "http://root:secret@host/x.db"})
    assert message == "--store-uri must not hold a user name or password; put the token in MILVUS_TOKEN."


def test_an_unknown_key_is_named_with_its_line_and_its_nearest(tmp_path: Path) -> None:
    path = written(tmp_path, '# settings\npool = 5\nmodle = "x"\n')
    assert refusal(path) == f"{path}, line 3: 'modle' is no setting; did you mean model?"


def test_a_key_like_no_other_gets_the_list(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, "zzzzzz = 1"))
    assert all(name in message for name in config._KINDS)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ('pool = "500"', 1, "pool must be a whole number, 1 or more, not '500'."),
        ("\npool = true", 2, "pool must be a whole number, 1 or more, not True."),
        ("pool = 0", 1, "pool must be a whole number, 1 or more, not 0."),
        ("ascii = 1", 1, "ascii must be true or false, not 1."),
        ("model = []", 1, "model must be a text, not a list."),
        ('model = ""', 1, "model must be a text, not ''."),
        ("[corpus]", 1, "corpus must be the path of a directory, not a table."),
        ('corpus = "a\\u0000b"', 1, "corpus must be the path of a directory"),
        ('profile = "brigth"', 1, "profile must be one of bcplus, bright, not 'brigth'."),
        ('keys = "s"', 1, "keys must be a table"),
        ("[keys]\nrun = 'r'\nstep = 5", 3, "keys.step must be keys in quotes"),
        (
            '[prices."a.b"]\ninput = 1\noutptu = 2',
            3,
            "prices.'a.b'.outptu is no setting; did you mean output?",
        ),
        ('prices = { "m" = { input = -1, output = 2 } }', 1, "prices.m.input must be US dollars"),
        ("[prices.m]\ninput = inf\noutput = 1", 2, "prices.m.input must be US dollars"),
        ("[prices.m]\ninput = 1", 1, "prices.m must give output too"),
        ("[prices.m]\ninput = 1\noutput = 1\ncached = -1", 4, "prices.m.cached must be US dollars"),
        ('api = "chatt"', 1, "api must be one of chat, responses"),
        ('reasoning_effort = "most"', 1, "reasoning_effort must be one of none, minimal"),
        (
            'base_url = "https://h/v1?key=1&api_key=x"',
            1,
            "base_url must not hold a user name, password or key",
        ),
        ("prices = 5", 1, "prices must be a table"),
        ("prices.m = 5", 1, "prices.m must be a table"),
    ],
)
def test_a_value_that_does_not_fit(text: str, line: int, expected: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    assert refusal(path).startswith(f"{path}, line {line}: {expected}")


@pytest.mark.parametrize(
    "text", ['api_key = "sk-123"', 'OPENAI-API-KEY = "sk-123"', '[prices.m]\nsecret = "sk-123"']
)
def test_keys_and_secrets_are_sent_to_the_environment(text: str, tmp_path: Path) -> None:
    message = refusal(written(tmp_path, text))
    assert "OPENAI_API_KEY" in message
    assert "sk-123" not in message


def test_an_address_with_a_password_is_refused_without_printing_it(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, 'base_url = "https://me:sk-123@host/v1"'))
    assert "OPENAI_API_KEY" in message
    assert "sk-123" not in message


def test_control_characters_do_not_reach_the_message(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, '"\\u001b[2J" = 1'))
    assert "\x1b" not in message
    message = refusal(written(tmp_path, 'profile = "\\u001b[2J"'))
    assert "\x1b" not in message


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"pool = 5\nx = \xff", "line 2: not UTF-8"),
        (b"pool = 5\npool = 6", "not valid TOML"),
        (b"pool =\n", "line 1"),
        pytest.param(b"x = " + b"[" * 5000, "nested too deeply", id="nested"),
        (b"\x00\x01\x02", "not valid TOML"),
    ],
)
def test_a_file_that_is_no_toml(data: bytes, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(data)
    message = refusal(path)
    assert str(path) in message
    assert expected in message


def test_a_given_file_must_be_readable(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "absent.toml")
    assert "directory" in refusal(tmp_path)


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xef\xbb\xbfpool = 5\r\n\r\ntheme = 'x'\r\n")
    settings, origins = load(path, {})
    assert settings.pool == 5
    assert origins["theme"] == f"{path}, line 3"


def test_lines_of_keys_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "any.toml"
    path.write_text(
        'text = """\n'
        "pool = 1\n"
        '[keys]"""\n'
        "list = [  # a comment\n"
        "  1,\n"
        "]\n"
        "pool = 2 # [keys]\n"
        "a.'b c' = 1\n"
        "\n"
        " [ keys ] # the table\n"
        "pool = 3\n"
        "[[rows]]\n"
        "x = 1\n"
        "[[rows]]\n"
        "x = 2\n"
        "[p.'q.r']\n"
        "s = {t = 1, u = {v = 2}}\n"
    )
    lines = TomlFile.read(path).lines
    assert lines == {
        ("text",): 1,
        ("list",): 4,
        ("pool",): 7,
        ("a",): 8,
        ("a", "b c"): 8,
        ("keys",): 10,
        ("keys", "pool"): 11,
        ("rows",): 12,
        ("rows", "x"): 13,
        ("p",): 16,
        ("p", "q.r"): 16,
        ("p", "q.r", "s"): 17,
        ("p", "q.r", "s", "t"): 17,
        ("p", "q.r", "s", "u"): 17,
        ("p", "q.r", "s", "u", "v"): 17,
    }


@given(st.text(alphabet=st.sampled_from("ab.[]{}=,\"'\n #1\\"), max_size=40))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.toml"
    path.write_text(text, encoding="utf-8")
    try:
        file = TomlFile.read(path)
    except RargError:
        return
    assert {key[0] for key in file.lines} == set(file.values)
