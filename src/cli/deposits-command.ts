/** `annal deposits`. */
import type { Command } from 'commander'
import { command } from './command.ts'
import { counted, green, print, printJson, red, say, table } from './output.ts'
import { withServices } from './with-installation.ts'

interface DepositsFlags {
  collect?: string
  writeOff?: string
  json?: true
}

/** Frozen deposits that are listed. */
const LISTED = 100

async function readDeposits({ collect, writeOff }: DepositsFlags) {
  const { toId } = await import('../domain/ids.ts')
  return withServices(async ({ services: { deposits } }) => {
    const collected = collect === undefined ? null : await deposits.collect({ kind: 'system' }, collect)
    const writtenOff = writeOff === undefined ? null : await deposits.writeOff({ kind: 'system' }, writeOff)
    const frozen = (await deposits.listFrozen({ kind: 'system' }, LISTED)).map((row) => ({
      ...{ id: toId('deposit', row.id), user: toId('user', row.wallet_id), reference: row.reference },
      ...{ amount: row.amount, shortfall: row.shortfall, writtenOff: row.written_off, held: row.held },
      ...{ isBack: row.block_number !== null, frozenAt: row.frozen_at },
    }))
    return { collected, writtenOff, frozen }
  })
}

/** Adds `annal deposits`. */
export function addDepositsCommand(program: Command): void {
  command(
    program,
    'deposits',
    'Shows deposits that the chain has lost after they were credited, and settles what is owed for them.',
    [
      'annal deposits',
      'annal deposits --collect deposit_01h2xcejqtf2nbrexx3vqjhp41',
      'annal deposits --write-off deposit_01h2xcejqtf2nbrexx3vqjhp41',
    ],
  )
    .option('--collect <deposit>', 'takes from the wallet what it owes for a frozen deposit, as far as it has it')
    .option('--write-off <deposit>', 'has the platform bear what the wallet owes for it')
    .option('--json', 'prints {"collected", "writtenOff", "frozen"}')
    .addHelpText(
      'after',
      `
A frozen deposit is out of the books, and credited again by itself when the chain has its transaction again.`,
    )
    .action(async (flags: DepositsFlags) => {
      const found = await readDeposits(flags)
      if (flags.json) return printJson(found)
      if (found.collected !== null) say(`${found.collected} were taken from the wallet.`)
      if (found.writtenOff !== null) say(`${found.writtenOff} are borne by the platform.`)
      if (found.frozen.length === 0) return say(green('No deposit is frozen.'))
      const rows = found.frozen.map(
        ({ id, user, amount, shortfall, writtenOff, held, isBack, frozenAt, reference }) => [
          ...[id, user, amount, shortfall, writtenOff, held, isBack ? 'yes' : 'no', frozenAt.toISOString(), reference],
        ],
      )
      const head = [
        'deposit',
        'user',
        'amount',
        'owed',
        'written off',
        'wallet has',
        'found again',
        'since',
        'reference',
      ]
      print(table([head, ...rows]))
      say(
        red(`${counted(rows.length, 'deposit is', 'deposits are')} frozen: the chain does not have what was credited.`),
      )
    })
}
