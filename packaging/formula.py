"""Prints the Homebrew formula of a source archive: formula.py VERSION FILE < pylock.toml."""

import hashlib
import sys
import tomllib
from pathlib import Path

# Homebrew has formulae of these.
FORMULAE = {"certifi"}

HEAD = """class Nsadmin < Formula
  include Language::Python::Virtualenv

  desc "Operator's toolkit for the NameServer of Apache RocketMQ"
  homepage "https://pypi.org/project/nsadmin/"
  url "https://files.pythonhosted.org/packages/{folder}/nsadmin-{version}.tar.gz"
  sha256 "{sha256}"
  license "Apache-2.0"

  depends_on "certifi"
  depends_on "libyaml"
  depends_on "python@3.13"
"""

TAIL = """
  def install
    virtualenv_install_with_resources
    bash_completion.install "completions/nsadmin.bash" => "nsadmin"
    fish_completion.install "completions/nsadmin.fish"
    zsh_completion.install "completions/_nsadmin"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/nsadmin --version")
    assert_match "127.0.0.1:1", shell_output("#{bin}/nsadmin check namesrv -n 127.0.0.1:1 2>&1", 2)
  end
end
"""


def main(version: str, sdist: str) -> None:
    archive = Path(sdist).read_bytes()
    # The package index stores a file under its hash; `brew style` refuses the other address.
    name = hashlib.blake2b(archive, digest_size=32).hexdigest()
    folder = f"{name[:2]}/{name[2:4]}/{name[4:]}"
    print(HEAD.format(version=version, folder=folder, sha256=hashlib.sha256(archive).hexdigest()), end="")
    for package in tomllib.load(sys.stdin.buffer)["packages"]:
        if package["name"] in FORMULAE or "sys_platform == 'win32'" in package.get("marker", ""):
            continue
        source = package["sdist"]
        print(f'\n  resource "{package["name"]}" do')
        print(f'    url "{source["url"]}"\n    sha256 "{source["hashes"]["sha256"]}"\n  end')
    print(TAIL, end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
