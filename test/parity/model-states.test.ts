/** The model itself: which states may be after deeds that were done at once, and what is told later of them. */
import { expect, it } from 'vitest'
import type { Deed } from '../support/model/deeds.ts'
import {
  Divergence,
  following,
  type Happened,
  MOST_STATES,
  type Possible,
  TooManyStates,
} from '../support/model/possible.ts'
import { beginning } from '../support/model/state.ts'
import type { Outcome } from '../support/model/step.ts'
import { decimal, units } from '../support/model/units.ts'

const COST = units('0.179')
let attempts = 0
const happened = (deed: Deed, shown?: Outcome['shown'], code: Outcome['code'] = 'ok'): Happened => {
  attempts += 1
  return { attempt: { name: `n${attempts}`, deed }, told: { code, shown } }
}
const one = (states: Possible, ...told: Parameters<typeof happened>) => following(states, [happened(...told)])
const captions = (states: Possible, file = '0') => states.map(({ assets }) => assets[file]!.caption).toSorted()

/** The first of the two people has money and so many files. */
function withFiles(count: number): Possible {
  const rich = one([beginning(units('0.9'))], { kind: 'deposit', who: 0, amount: '1000' })
  const files = Array.from({ length: count }, (_, file) => file)
  return files.reduce<Possible>(
    (states, file) =>
      one(states, { kind: 'register', who: 0, file, isPublic: false }, { caption: '', isPublic: false }),
    rich,
  )
}
const update = (file: string, caption: string) =>
  happened({ kind: 'update', who: 0, file, caption }, { caption, isPublic: false })
const read = (states: Possible, caption: string) =>
  one(states, { kind: 'readAsset', who: 0, file: '0' }, { caption, isPublic: false, commits: 3 })
/** Told after so many commits, which are paid of the point that everybody begins with. */
const balance = (states: Possible, commits: bigint) =>
  one(states, { kind: 'balance', who: 0 }, { num: '1000', points: decimal(units('1') - commits * COST) })

it('goes on with both orders of two changes that are answered alike, until a reader tells which it was', () => {
  const both = following(withFiles(1), [update('0', 'One'), update('0', 'Another')])
  expect(captions(both)).toEqual(['Another', 'One'])
  expect(captions(read(both, 'One'))).toEqual(['One'])
  expect(captions(read(both, 'Another'))).toEqual(['Another'])
  expect(() => read(both, 'A third')).toThrow(Divergence)
  expect(() => read(read(both, 'One'), 'Another')).toThrow(Divergence)
})

it('goes on with both where what comes next is answered alike, too, and costs in one of them only', () => {
  const both = following(withFiles(1), [update('0', 'One'), update('0', 'Another')])
  const next = following(both, [update('0', 'One')])
  expect(captions(next)).toEqual(['One', 'One'])
  expect(balance(next, 3n)).toHaveLength(1)
  expect(balance(next, 4n)).toHaveLength(1)
  expect(() => balance(next, 5n)).toThrow(Divergence)
})

it('takes orders that leave the same for one, in whatever order things were made', () => {
  const order = () =>
    happened(
      { kind: 'order', who: 1, app: 'first', isTrusted: true },
      { status: 'CREATED', price: '0.9', num: '0', points: '0' },
    )
  const grant = (amount: string) => happened({ kind: 'grant', who: 'admin', to: 1, amount }, { amount })
  expect(following(withFiles(0), [order(), order(), grant('1'), grant('2')])).toHaveLength(1)
})

it('finds that no order of what was done at once is answered so', () => {
  const [states, order] = [withFiles(0), { kind: 'order', who: 1, app: 'first', isTrusted: true } as const]
  const placed = happened(order)
  const ordered = following(states, [placed])
  const confirm = () =>
    happened({ kind: 'confirm', who: 1, order: placed.attempt.name }, { status: 'SUCCESS', num: '0', points: '0.9' })
  const cancel = happened({ kind: 'cancel', who: 1, order: placed.attempt.name })
  expect(following(ordered, [confirm(), confirm()])).toHaveLength(1)
  expect(() => following(ordered, [confirm(), cancel])).toThrow(Divergence)
})

it('fails rather than forget a state when there are more than it keeps', () => {
  const most = Math.log2(MOST_STATES)
  let states = withFiles(most + 1)
  for (let file = 0; file < most; file += 1)
    states = following(states, [update(String(file), 'One'), update(String(file), 'Another')])
  expect(states).toHaveLength(MOST_STATES)
  expect(() => following(states, [update(String(most), 'One'), update(String(most), 'Another')])).toThrow(TooManyStates)
})
