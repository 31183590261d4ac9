/** `annal coins`. */
import { type Command, InvalidArgumentError } from 'commander'
import type { ComparedAddress, Comparison } from '../modules/coins/treasury/compare.ts'
import { blockNumber } from './block-number.ts'
import { command } from './command.ts'
import { counted, fail, green, print, printJson, red, say, table } from './output.ts'
import { createProgress } from './progress.ts'
import { publicUrlOf, withInstallation } from './with-installation.ts'

interface CoinsFlags {
  adopt?: boolean
  bear?: string[]
  from?: number
  json?: true
}

/** Raises InvalidArgumentError. */
const addHash = (text: string, before: string[] = []) => {
  if (!/^0x[\da-f]{64}$/i.test(text)) throw new InvalidArgumentError('Expected the hash of a transaction.')
  return [...before, text.toLowerCase()]
}

/** `adopted`: how many transactions were taken into the books; null where nothing was to be written. */
interface Outcome {
  comparison: Comparison
  adopted: number | null
  isChanged: boolean
}

const addsUp = ({ differing }: Comparison) => differing.every(({ problems }) => problems.length === 0)

async function compare({ adopt: isWanted = false, bear = [], from }: Omit<CoinsFlags, 'json'>): Promise<Outcome> {
  const { adoptionsOf, compareCoins } = await import('../modules/coins/treasury/compare.ts')
  const { connectChain } = await import('../chain/connect-chain.ts')
  const { importTransactions } = await import('../modules/coins/import-transactions.ts')
  return withInstallation(async (installation) => {
    const chain = await connectChain(installation, publicUrlOf(installation))
    const progress = createProgress('looked at')
    try {
      await chain.registry.readChainId()
      const comparison = await compareCoins({
        ...{ rpc: chain.registry.rpc, database: installation.database, treasury: chain.treasury.address, from },
        borne: new Set(bear),
        tell: (done, total) => progress.tell(done, total),
      })
      if (!isWanted || !addsUp(comparison)) return { comparison, adopted: null, isChanged: false }
      const adoptions = adoptionsOf(comparison)
      const isDone = await importTransactions(installation.database, adoptions)
      return { comparison, adopted: isDone ? adoptions.length : null, isChanged: !isDone }
    } finally {
      progress.end()
      await chain.close()
    }
  })
}

const kindOf = ({ owner }: ComparedAddress, withdrawal: string | null) => {
  if (owner !== undefined) return 'gathering'
  return withdrawal === null ? 'payment' : 'withdrawal'
}

async function told({ block, agreeing, differing }: Comparison) {
  const { toId } = await import('../shared/ids.ts')
  const { fromUnits } = await import('../shared/money.ts')
  return {
    block,
    agreeing,
    differing: differing.map((each) => ({
      address: each.address,
      user: each.owner === undefined ? null : toId('user', each.owner),
      booked: fromUnits(each.booked),
      agreed: fromUnits(each.agreed),
      held: fromUnits(each.held),
      unknown: each.unknown.map(({ nonce, hash, to, arrived, fee, blockNumber: at, claim }) => {
        const withdrawal = claim ? toId('withdrawal', claim.id) : null
        return {
          ...{ nonce, transaction: hash, kind: kindOf(each, withdrawal), withdrawal, to },
          ...{ arrived: fromUnits(arrived), fee: fromUnits(fee), block: at },
        }
      }),
      problems: each.problems,
    })),
  }
}

type Told = Awaited<ReturnType<typeof told>>

function printTold({ block, agreeing, differing }: Told) {
  say(`Compared at block ${block}: at ${counted(agreeing, 'address', 'addresses')} books and chain agree.`)
  if (differing.length === 0) return
  const rows = differing.map(({ address, user, booked, agreed, held, unknown }) => [
    ...[address, user ?? 'treasury', booked, agreed, held, String(unknown.length)],
  ])
  print(table([['address', 'whose', 'books', 'with the unknown', 'chain', 'unknown'], ...rows]))
  const all = differing.flatMap(({ unknown }) => unknown)
  const lines = all.map(({ transaction, nonce, kind, withdrawal, to, arrived, fee, block: at }) => [
    ...[transaction, String(nonce), kind, withdrawal ?? '', to, arrived, fee, String(at)],
  ])
  if (lines.length > 0) {
    print('')
    print(table([['transaction', 'nonce', 'what', 'withdrawal', 'to', 'arrived', 'fee', 'block'], ...lines]))
  }
  for (const { address, problems } of differing) for (const problem of problems) say(red(`${address}: ${problem}`))
}

/** Adds `annal coins`. */
export function addCoinsCommand(program: Command): void {
  command(
    program,
    'coins',
    'Compares coins in the books with the chain, address by address, and takes into the books what only the chain knows of: after a restore.',
    ['annal coins', 'annal coins --adopt', 'annal coins --from 19000000 --json'],
  )
    .option('--adopt', 'takes the transactions that the books do not know into them, if then everything adds up')
    .option(
      '--bear <transaction>',
      'has the platform bear this payment, which no withdrawal in the books asks for; may be repeated',
      addHash,
    )
    .option('--from <block>', 'seeks in the blocks from this one on, where the node keeps no older state', blockNumber)
    .option('--json', 'prints {"block", "agreeing", "differing", "adopted"}')
    .addHelpText(
      'after',
      `
Writes nothing without --adopt. Exits with 0 when books and chain agree, or were made to, and else with 1.`,
    )
    .action(async ({ json, ...flags }: CoinsFlags) => {
      const { comparison, adopted, isChanged } = await compare(flags)
      const isRight = addsUp(comparison)
      const isOver = comparison.differing.length === 0 || adopted !== null
      if (!isOver) fail()
      const shown = await told(comparison)
      if (json) return printJson({ ...shown, adopted })
      printTold(shown)
      if (comparison.differing.length === 0) return say(green('Everything agrees.'))
      if (isChanged) return say(red('Something changed meanwhile: ask again.'))
      if (!isRight) return say(red('It does not add up, and nothing was written.'))
      if (adopted === null) return say('It adds up. Nothing was written: --adopt takes it into the books.')
      say(green(`${counted(adopted, 'transaction was', 'transactions were')} taken into the books.`))
    })
}
