const EXPECTED = 'Expected value of type "'
/** What a value is quoted behind. */
const QUOTING = /[,;.]? (?:but encountered error|[Ff]ound:?) /

/** Cut at its first quotation. One regular expression for both would look for the end at each beginning that the value repeats. */
function withoutFound(message: string): string {
  const start = message.indexOf(EXPECTED)
  const quoting = start < 0 ? -1 : message.slice(start).search(QUOTING)
  return quoting < 0 ? message : `${message.slice(0, start + quoting)}.`
}

/** What GraphQL says, without the values that it quotes. */
const cut = (message: string) =>
  withoutFound(
    message
      .replace(/^Value ".*" does not exist in ("\w+" enum).*$/s, 'A value does not exist in $1.')
      .replace(/ (String|BlockString|Int|Float) ".*$/s, ' $1.')
      .replace(/ cannot represent .*$/s, ' cannot represent the value.'),
  ).replace(/\?\.$/, '?')

/** What is wrong with a variable, as the end of a sentence. */
const inWords = (problem: string) =>
  cut(problem)
    .replace(/^(\w+) cannot represent the value\.$/, 'expected $1.')
    .replace(
      /^(?:A value does not exist in|Enum) ("\w+") (?:enum|cannot represent the value)\.$/,
      'expected a value of the enum $1.',
    )
    .replace(/^Expected /, 'expected ')

/** Which variable GraphQL refuses, where in it, and why; undefined when its message is about something else. */
export function refusedVariable(message: string) {
  const [, variable, path = '', problem = ''] =
    /^Variable "\$(\w+)" has invalid value(?: at ([.[].*?))?: (.*)$/s.exec(message) ?? []
  return variable === undefined ? undefined : { variable, path, problem }
}

/**
 * What GraphQL says of a document or its variables, without the values it quotes: a password that was sent as the wrong
 * type, or behind a forgotten colon, must not stand in an error that callers log. Where it is, the error's location tells;
 * `reason` is a scalar's own, which holds none.
 */
export function withoutValues(message: string, reason?: string): string {
  const refused = refusedVariable(message)
  if (!refused) return cut(message)
  const { variable, path, problem } = refused
  const at = path && ` at "${variable}${path}"`
  return `Variable "$${variable}" got an invalid value${at}; ${reason ?? inWords(problem)}`
}
