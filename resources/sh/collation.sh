# How a host sorts: one list of words put in order under each locale in question, and the order's sum.
# Two hosts whose sums differ put the keys of an index in different order.
# shellcheck disable=SC2016 # signs of money are words here

# collation_order LOCALES...   print `sorted LOCALE SUM` of each; `missing` for a sum where the host has no such locale
# A locale that is not there makes sort fall back to C without an error; the program `locale` says so.
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

# collation_words   print the list
# It tells glibc 2.28, which took over the order of ISO 14651:2016, from what was before (`1-1` and `11` change places),
# and holds what locales treat each in its own way: accents, case, digits, punctuation, blanks of no width, other
# scripts.
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
