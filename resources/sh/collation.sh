# How a host sorts: a list of words is sorted with each locale in question, and the checksum of the result is printed.
# Two hosts with different checksums sort the keys of an index differently.
# shellcheck disable=SC2016 # signs of money are words here

# collation_order LOCALES...   Print `sorted LOCALE SUM` for each locale. SUM is `missing` if the host does not have it.
# For a missing locale, `sort` uses C without an error. Only the program `locale` reports it.
collation_order() {
  command -v locale >/dev/null || fail 'the program locale is missing on this host'
  for order_locale; do
    order_said=$(LC_ALL=$order_locale locale charmap 2>&1 >/dev/null) || fail 'locale failed'
    if [ -n "$order_said" ]; then
      order_sum=missing
    else
      order_words=$(collation_words | LC_ALL=$order_locale sort) || fail 'sort failed'
      order_sum=$(printf '%s\n' "$order_words" | sha256sum) || fail 'sha256sum failed'
    fi
    echo "sorted $order_locale ${order_sum%% *}"
  done
}

# collation_words   Print the list of words. It tells glibc 2.28, which adopted the order of ISO 14651:2016, from
# earlier versions: `1-1` and `11` change places. It contains words with accents, upper and lower case, digits,
# punctuation, zero-width spaces and other scripts, which locales sort differently.
collation_words() {
  printf '%b\n' \
    '1-1' '11' '1 1' '1.1' '1_1' '1' '10' '2' '02' '-1' '+1' '1a' 'a1' 'a-1' 'a 1' 'a' 'A' 'aa' 'AA' \
    'aA' 'Aa' 'a a' 'a-a' 'a_a' 'a.a' 'a'\''a' 'ab' 'b' 'B' 'z' 'Z' 'zz' 'ä' 'Ä' 'ae' 'æ' 'å' 'Å' \
    'á' 'à' 'â' 'ç' 'c' 'ch' 'cz' 'č' 'd' 'ð' 'e' 'é' 'è' 'ê' 'ë' 'i' 'ı' 'İ' 'I' 'l' 'll' 'ł' 'n' \
    'ñ' 'o' 'ö' 'oe' 'œ' 'ø' 'ő' 's' 'ss' 'ß' 'ẞ' 'š' 'u' 'ü' 'ue' 'ű' 'v' 'w' 'y' 'ý' 'ž' 'þ' \
    'cote' 'coté' 'côte' 'côté' 'resume' 'résumé' 'Resume' 'co-op' 'coop' 'co op' 'CO-OP' 'de luge' \
    'de-luge' 'deluge' 'de Luge' 'black-bird' 'blackbird' '_' '-' '--' ',' ';' ':' '!' '?' '/' '.' \
    '..' ''\''' '"' '(' ')' '[' ']' '{' '}' '@' '*' '&' '#' '%' '+' '<' '=' '>' '|' '~' '^' '`' '$' \
    '€' '£' '§' '°' '©' '«' '»' '–' '—' '…' '$1' '$a' '@a' '#1' '(a)' 'a)' '/a' 'a/b' 'a\0302\0240b' \
    'a\0342\0200\0213b' 'a\0302\0255b' '²' '½' '①' 'Ⅷ' '٣' 'α' 'Α' 'ά' 'β' 'ς' 'σ' 'ω' 'а' 'А' 'б' \
    'е' 'ё' 'ж' 'я' 'і' 'ї' 'א' 'ב' 'ا' 'ب' 'ي' 'अ' 'क' 'ก' 'ข' '一' '丁' '中' '文' 'あ' 'ア' 'ｱ' 'ん' '가' \
    '한' '글' 'ﬁ' 'fi' '😀' '🐘' '🇦'
}
