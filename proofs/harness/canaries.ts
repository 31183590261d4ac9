/** Secrets that can be recognised, in every form in which one of them could lie about where it must not. */

export interface Canary {
  name: string
  text: string
  /** What the text stands for, where that is bytes. */
  bytes?: Buffer
  /** How many characters at its beginning are no secret. */
  open?: number
}

export interface Hit {
  canary: string
  encoding: string
  place: string
  /** What stands around it. */
  around: string
}

export interface Haystack {
  place: string
  bytes: Buffer
}

const ALIGNMENTS = [0, 1, 2]
const FRAGMENT = 8
/** Bytes of a buffer that are printed. */
const INSPECTED = 50
const AROUND = 60

/** The characters of its base64 that are the same whatever stands before and after it. */
function base64Core(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  return whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
}

const urlSafe = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_')

/** Forms of a secret by their names. */
export function encodingsOf({ text, bytes }: Canary): Map<string, Buffer> {
  const forms = new Map<string, Buffer>()
  const add = (name: string, form: string | Buffer) => {
    const found = Buffer.from(form as string)
    if (![...forms.values()].some((known) => known.equals(found))) forms.set(name, found)
  }
  add('plain', text)
  add('percent', encodeURIComponent(text))
  add('upper case', text.toUpperCase())
  add('lower case', text.toLowerCase())
  const meant = { text: Buffer.from(text), ...(bytes && { bytes }) }
  for (const [of, value] of Object.entries(meant)) {
    const hex = value.toString('hex')
    add(`raw ${of}`, value)
    add(`hex of ${of}`, hex)
    add(`HEX of ${of}`, hex.toUpperCase())
    add(`inspected ${of}`, hex.match(/../g)!.slice(0, INSPECTED).join(' '))
    add(`numbers of ${of}`, [...value].join(','))
    for (const before of ALIGNMENTS) {
      add(`base64 of ${of}, ${before} before`, base64Core(value, before))
      add(`base64url of ${of}, ${before} before`, urlSafe(base64Core(value, before)))
    }
  }
  return forms
}

/** Every eight characters in a row: an error message may quote the middle of a text. */
export function fragmentsOf({ text, open = 0 }: Canary): string[] {
  const secret = text.slice(open)
  return Array.from({ length: Math.max(1, secret.length - FRAGMENT + 1) }, (_, at) => secret.slice(at, at + FRAGMENT))
}

const show = (bytes: Buffer, at: number, length: number) =>
  `${bytes.toString('latin1', Math.max(0, at - AROUND), at)}<here>${bytes.toString('latin1', at + length, at + length + AROUND)}`.replaceAll(
    /[^ -~]+/g,
    ' ',
  )

export interface Search {
  hits: Hit[]
  bytes: number
}

interface Form {
  canary: string
  encoding: string
  bytes: Buffer
}

const prefixOf = (bytes: Uint8Array, at: number) => bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16)

export interface Finder {
  /** One hit at most for each canary and form; fragments only of what is not there in whole. */
  find(haystack: Haystack): Hit[]
}

/** Looks for all forms of all canaries in one pass. `piecewise` looks for fragments, too. */
export function createFinder(canaries: readonly Canary[], piecewise = false): Finder {
  const byPrefix = new Map<number, Form[]>()
  const isPrefix = new Uint8Array(2 ** 24)
  const add = (canary: string, encoding: string, bytes: Buffer) => {
    const prefix = prefixOf(bytes, 0)
    isPrefix[prefix] = 1
    byPrefix.set(prefix, [...(byPrefix.get(prefix) ?? []), { canary, encoding, bytes }])
  }
  for (const canary of canaries) {
    for (const [encoding, bytes] of encodingsOf(canary)) add(canary.name, encoding, bytes)
    if (piecewise) for (const text of fragmentsOf(canary)) add(canary.name, 'fragment', Buffer.from(text))
  }
  return {
    find({ place, bytes }) {
      const found = new Map<string, Hit>()
      const last = bytes.length - 2
      for (let at = 0; at < last; at += 1) {
        const prefix = prefixOf(bytes, at)
        if (isPrefix[prefix] === 0) continue
        for (const { canary, encoding, bytes: form } of byPrefix.get(prefix)!) {
          const end = at + form.length
          if (end > bytes.length || bytes.compare(form, 0, form.length, at, end) !== 0) continue
          const key = `${canary}/${encoding}`
          if (!found.has(key)) found.set(key, { canary, encoding, place, around: show(bytes, at, form.length) })
        }
      }
      const hits = [...found.values()]
      const whole = new Set(hits.filter(({ encoding }) => encoding !== 'fragment').map(({ canary }) => canary))
      return hits.filter(({ canary, encoding }) => encoding !== 'fragment' || !whole.has(canary))
    },
  }
}

export async function searchAll(
  haystacks: Iterable<Haystack> | AsyncIterable<Haystack>,
  canaries: readonly Canary[],
  piecewise = false,
): Promise<Search> {
  const finder = createFinder(canaries, piecewise)
  const search: Search = { hits: [], bytes: 0 }
  for await (const haystack of haystacks) {
    search.bytes += haystack.bytes.length
    search.hits.push(...finder.find(haystack))
  }
  return search
}
