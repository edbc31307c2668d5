"""What the allowed programs are asked in their own words, and what may never come through."""

from __future__ import annotations

ALLOWED = (
    "cat xargs rg grep head tail sed sort uniq wc cut tr nl comm echo printf true false test [ ls find set :"
)
#: What each program gives to getopt (coreutils 9.1, grep 3.8, findutils 4.9, sed 4.9), by their sources.
GETOPT: dict[str, tuple[str, str]] = {
    "cat": (
        "benstuvAET",
        "number-nonblank number squeeze-blank show-nonprinting show-ends show-tabs show-all",
    ),
    "head": (
        "c:n:qvz0123456789",
        "bytes= lines= quiet silent verbose zero-terminated",
    ),
    "tail": (
        "c:n:fFqs:vz0123456789",
        "bytes= follow? lines= max-unchanged-stats= pid= quiet retry silent sleep-interval= verbose"
        " zero-terminated",
    ),
    "sed": (
        "bsnrzuEe:f:l:i::V:",
        "binary regexp-extended in-place? line-length= null-data zero-terminated quiet posix silent sandbox"
        " separate unbuffered follow-symlinks expression= file= debug",
    ),
    "sort": (
        "bcCdfghik:mMno:rRsS:t:T:uVy::z",
        "ignore-leading-blanks check? compress-program= debug dictionary-order ignore-case files0-from="
        " general-numeric-sort ignore-nonprinting key= merge month-sort numeric-sort human-numeric-sort"
        " version-sort random-sort random-source= sort= output= reverse stable batch-size= buffer-size="
        " field-separator= temporary-directory= unique zero-terminated parallel=",
    ),
    "uniq": (
        "cdDf:is:uw:z0123456789",
        "count repeated all-repeated? group? ignore-case unique skip-fields= skip-chars= check-chars="
        " zero-terminated",
    ),
    "wc": (
        "clLmw",
        "bytes chars lines words files0-from= max-line-length total=",
    ),
    "cut": (
        "b:c:d:f:nsz",
        "bytes= characters= fields= delimiter= only-delimited output-delimiter= complement zero-terminated",
    ),
    "tr": (
        "cCdst",
        "complement delete squeeze-repeats truncate-set1",
    ),
    "nl": (
        "h:b:f:v:i:pl:s:w:n:d:",
        "header-numbering= body-numbering= footer-numbering= starting-line-number= line-increment="
        " no-renumber join-blank-lines= number-separator= number-width= number-format= section-delimiter=",
    ),
    "comm": (
        "123z",
        "check-order nocheck-order output-delimiter= total zero-terminated",
    ),
    "grep": (
        "A:B:C:D:EFGHILPTUVX:abcd:e:f:hiLlm:noqRrsuvwxyZz0123456789",
        "basic-regexp extended-regexp fixed-regexp fixed-strings perl-regexp after-context= before-context="
        " group-separator= no-group-separator context= binary-files= binary byte-offset color? colour? count"
        " devices= directories= exclude= exclude-from= exclude-dir= file= files-with-matches"
        " files-without-match help include= ignore-case no-ignore-case initial-tab label= line-buffered"
        " line-number line-regexp max-count= no-filename no-messages null null-data only-matching quiet"
        " recursive dereference-recursive regexp= invert-match silent text unix-byte-offsets version"
        " with-filename word-regexp",
    ),
    "ls": (
        "abcdfghiklmnopqrstuvw:xABCDFGHI:LNQRST:UXZ1",
        "all escape directory dired full-time group-directories-first human-readable inode kibibytes"
        " numeric-uid-gid no-group hide-control-chars reverse size width= almost-all ignore-backups"
        " classify? file-type si dereference-command-line dereference-command-line-symlink-to-dir hide="
        " ignore= indicator-style= dereference literal quote-name quoting-style= recursive format="
        " show-control-chars sort= tabsize= time= time-style= zero color? hyperlink? block-size= context"
        " author",
    ),
    "xargs": (
        "0a:E:e::i::I:l::L:n:prs:txP:d:o",
        "null arg-file= delimiter= eof? max-args= no-run-if-empty max-lines? process-slot-var= verbose"
        " show-limits exit max-chars= max-procs= open-tty interactive replace?",
    ),
}
#: What must never come through, whatever else does.
FORBIDDEN = {
    "tail": "-f -F --follow --retry --pid -s --sleep-interval --max-unchanged-stats",
    "sed": "-i --in-place -f --file --follow-symlinks --debug --posix",
    "sort": "-o --output -T --temporary-directory -S --buffer-size --compress-program --files0-from"
    " --random-source -R --random-sort --batch-size -y --debug",
    "wc": "--files0-from",
    "grep": "-R --dereference-recursive --exclude-from -d --directories -D --devices",
    "ls": "-L --dereference -H --dereference-command-line --dereference-command-line-symlink-to-dir"
    " --hyperlink -Z --context -D --dired",
    "xargs": "-I -i --replace -p --interactive -t --verbose -o --open-tty --process-slot-var --show-limits"
    " -e -E --eof -l --max-lines",
    "find": "-L -H -O3 -D -delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls -files0-from"
    " -follow -xtype -newer -anewer -cnewer -newermt -samefile",
    "rg": "--pre --pre-glob --hostname-bin -z --search-zip -L --follow --ignore-file --json --debug"
    " --trace --generate --hyperlink-format --type-list --stats -V --version -h --help"
    " --pcre2-version",
}
#: The options of rg that take a value, without dashes.
RG_VALUES = (
    "e regexp f file pre pre-glob dfa-size-limit E encoding engine m max-count regex-size-limit j threads"
    " g glob iglob ignore-file d max-depth max-filesize t type T type-not type-add type-clear A"
    " after-context B before-context color colors C context context-separator field-context-separator"
    " field-match-separator hostname-bin hyperlink-format M max-columns path-separator r replace sort"
    " sortr generate"
)
#: What find may be asked with a word after it, and without one.
FIND_ONE = (
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -maxdepth -mindepth"
    " -size -perm -links -lname -ilname -printf -atime -amin -ctime -cmin -mtime -mmin"
)
FIND_NONE = (
    "-empty -print -print0 -prune -not ! -o -or -a -and ( ) , -depth -true -false -quit -ls -daystart"
    " -xdev -mount -warn -nowarn -noleaf -readable -writable -executable"
)
#: What of test looks at a file.
TEST_FILE = "-b -c -d -e -f -g -h -k -L -N -O -p -r -s -S -u -w -x -G"
#: Options that we take and do not pass on.
DROPPED = {"grep": "--color --colour", "ls": "--color -w --width -T --tabsize", "sort": "--parallel"}
RG_OURS = (
    "-j --threads --sort --sortr --sort-files --no-sort-files --color --colors --line-buffered"
    " --no-line-buffered --block-buffered --no-block-buffered --mmap --no-mmap --no-config --no-messages"
    " --messages --no-ignore-messages --ignore-messages --no-stats --no-json --no-pre --no-search-zip"
    " --no-follow"
)
#: What we add.
ADDED = {
    *(("--buffer-size", "1G"), ("--temporary-directory", "/dev/null")),
    *(("--exclude", ".?*"), ("--exclude-dir", ".?*"), ("--devices", "skip"), ("-H", None)),
}
#: Options that give a pattern or script, and so leave none among the operands; the first is what we give.
PATTERNS = {
    "grep": ("-e", "--regexp", "-f", "--file"),
    "sed": ("-e", "--expression"),
    "rg": ("--regexp", "-e", "-f", "--file", "--files"),
}
