/** Combines the writes of several callers into one statement, independent of the statement. */
import { describe, expect, it } from 'vitest'
import { int, joinedStatement, text } from '../../../src/db/sql.ts'
import { coalesceWrites, type Row } from '../../../src/db/write-batching/write-coalescer.ts'

const wanted = joinedStatement(
  'test_joined',
  { parameters: { wallet: text, amount: int }, columns: { paid: int }, apart: ['wallet'] },
  ({ item, place }) => `with ${item} select ${place} item.amount as paid from item`,
)

interface Sent {
  wallets: string[]
  lists: Record<string, unknown[]>
  answer(rows: Row[]): void
  fail(error: Error): void
}

function open() {
  const sent: Sent[] = []
  const alone: string[] = []
  const join = coalesceWrites(wanted.together!, (_statement, given) => {
    const lists = given as Record<string, unknown[]>
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
    sent.push({ wallets: lists.wallet as string[], lists, answer: resolve, fail: reject })
    return promise
  })
  const pay = (wallet: string, amount = 1, origin: string | null = null) =>
    join({ given: { wallet, amount }, origin }, async () => {
      alone.push(wallet)
      return [{ paid: amount, alone: true }]
    })
  return { sent, alone, pay }
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
const refused = (code: string) => Object.assign(new Error('The server said no.'), { code })
const all = ({ wallets }: Sent) => wallets.map((wallet, index) => ({ place: index + 1, wallet }))

describe('concurrent writes of the same kind', () => {
  it('concurrent writes share one statement, and each caller gets its own row', async () => {
    const { sent, pay } = open()
    const answers = ['ada', 'ben', 'cem'].map((wallet) => pay(wallet))
    await turn()
    expect(sent.map(({ wallets }) => wallets)).toEqual([['ada', 'ben', 'cem']])
    sent[0]!.answer(all(sent[0]!).toReversed())
    expect((await Promise.all(answers)).map(([row]) => row!.wallet)).toEqual(['ada', 'ben', 'cem'])
  })

  it('concurrent writes keep the input and the trace of each caller', async () => {
    const { sent, pay } = open()
    void pay('ada', 3, 'trace of ada')
    void pay('ben', 5)
    await turn()
    expect(sent[0]!.lists).toEqual({ wallet: ['ada', 'ben'], amount: [3, 5], origins: ['trace of ada', null] })
    sent[0]!.answer(all(sent[0]!))
  })

  it('concurrent writes to the same row use separate statements', async () => {
    const { sent, alone, pay } = open()
    const answers = ['ada', 'ben', 'ada', 'ada'].map((wallet) => pay(wallet))
    await turn()
    sent[0]!.answer(all(sent[0]!))
    expect((await Promise.all(answers)).flat()).toHaveLength(4)
    expect([sent.map(({ wallets }) => wallets), alone]).toEqual([[['ada', 'ben']], ['ada', 'ada']])
  })

  it('new writes wait for the running statement, and then share the next statement', async () => {
    const { sent, pay } = open()
    const first = [pay('ada'), pay('ben')]
    await turn()
    const second = [pay('cem')]
    await turn()
    second.push(pay('dan'))
    expect(sent).toHaveLength(1)
    sent[0]!.answer(all(sent[0]!))
    await Promise.all(first)
    await turn()
    expect(sent[1]!.wallets).toEqual(['cem', 'dan'])
    sent[1]!.answer(all(sent[1]!))
    await Promise.all(second)
  })

  it('new writes do not wait for a hanging statement', async () => {
    const { sent, pay } = open()
    const stuck = [pay('ada'), pay('ben')]
    await turn()
    const others = Promise.all([pay('cem'), pay('dan')])
    while (sent.length < 2) await turn()
    sent[1]!.answer(all(sent[1]!))
    expect(await others).toHaveLength(2)
    sent[0]!.answer(all(sent[0]!))
    await Promise.all(stuck)
  })

  it('one statement contains at most the maximum number of writes', async () => {
    const { sent, pay } = open()
    const answers = Array.from({ length: 40 }, (_, n) => pay(`wallet ${n}`))
    for (const round of [0, 1]) {
      await turn()
      sent[round]!.answer(all(sent[round]!))
      await Promise.all(answers.slice(round * 32, round * 32 + sent[round]!.wallets.length))
    }
    expect(sent.map(({ wallets }) => wallets.length)).toEqual([32, 8])
    await Promise.all(answers)
  })
})

describe('callers', () => {
  it('a caller without concurrent writes uses its own statement', async () => {
    const { sent, alone, pay } = open()
    expect(await pay('ada')).toEqual([{ paid: 1, alone: true }])
    expect([sent.length, alone]).toEqual([0, ['ada']])
  })

  it('a caller that the shared statement skipped uses its own statement', async () => {
    const { sent, alone, pay } = open()
    const answers = [pay('ada'), pay('ben'), pay('cem')]
    await turn()
    sent[0]!.answer([{ place: 1 }, { place: 3 }])
    expect((await Promise.all(answers)).map(([row]) => Boolean(row!.alone))).toEqual([false, true, false])
    expect(alone).toEqual(['ben'])
  })

  it.each([
    ['an out-of-range value', '22003'],
    ['a violated constraint', '23505'],
    ['a deadlock', '40P01'],
    ['a lock timeout', '55P03'],
  ])('a caller is not affected by the error of another caller in the shared statement: %s', async (_, code) => {
    const { sent, alone, pay } = open()
    const answers = [pay('ada'), pay('ben')]
    await turn()
    sent[0]!.fail(refused(code))
    await Promise.all(answers)
    expect(alone).toEqual(['ada', 'ben'])
  })

  it.each([
    ['57P01', 'the server shuts down'],
    ['57014', 'the statement timed out'],
    ['ECONNRESET', 'the connection is lost'],
  ])('does not retry a write that may have been executed, and returns an error (%s: %s)', async (code) => {
    const { sent, alone, pay } = open()
    const answers = Promise.allSettled([pay('ada'), pay('ben')])
    await turn()
    sent[0]!.fail(refused(code))
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(alone).toEqual([])
  })
})
