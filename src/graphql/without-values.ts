/**
 * What GraphQL says of a document or its variables, without the values it quotes: a password that was sent as the wrong
 * type, or behind a forgotten colon, must not stand in an error that callers log. Where it is, the error's location tells;
 * `reason` is a scalar's own, which holds none.
 */
export function withoutValues(message: string, reason?: string): string {
  const variable = /^(Variable "\$\w+") got invalid value /.exec(message)
  if (variable) {
    const at = / at "[\w.[\]]+"(?=; )/.exec(message)?.[0] ?? ''
    const expected = / (\w+) cannot represent /.exec(message)?.[1]
    const why = reason ?? (expected && `expected ${expected}.`)
    return `${variable[1]} got an invalid value${at}${why ? `; ${why}` : '.'}`
  }
  return message
    .replace(/ (String|BlockString|Int|Float) ".*$/s, ' $1.')
    .replace(/ cannot represent .*$/s, ' cannot represent the value.')
    .replace(/(Expected value of type "[^"]*".*?)[,;.]? (?:but encountered error|[Ff]ound:?) .*$/s, '$1.')
    .replace(/\?\.$/, '?')
    .replace(/^Value ".*" does not exist in ("\w+" enum).*$/s, 'A value does not exist in $1.')
}
