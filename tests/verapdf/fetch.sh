#!/bin/sh
# Brings veraPDF from Maven Central into build/verapdf and builds what asks it; does nothing where it is there already.
#
#   sh tests/verapdf/fetch.sh
set -eu
cd "$(dirname "$0")/../.."
. installer/machine.sh

folder=build/verapdf
for name in tests/verapdf/pom.xml tests/verapdf/Check.java; do
    [ "$folder/classes/Check.class" -nt "$name" ] || stale=yes
done
[ -n "${stale:-}" ] || exit 0
for program in java javac mvn; do
    command -v "$program" >/dev/null || die "$program is not here; on Debian: apt-get install openjdk-17-jdk-headless maven"
done
say "fetching veraPDF into $folder"
rm -rf "$folder"
mkdir -p "$folder/classes"
# -C: a file whose checksum is another one is refused
mvn --quiet --batch-mode -C -f tests/verapdf/pom.xml dependency:copy-dependencies "-DoutputDirectory=$PWD/$folder/jars"
javac -cp "$folder/jars/*" -d "$folder/classes" tests/verapdf/Check.java
