/** Commands `coins` and `deposits`. */
import type { Command } from 'commander'
import { asSystem } from '../context.ts'
import { notFound } from '../shared/errors.ts'
import { fromId, toId } from '../shared/ids.ts'
import { formatAmount, fromUnits } from '../shared/money.ts'
import { command, type Flags, integer, nameOptions, transactionHash } from './command.ts'
import * as out from './terminal.ts'
import { loadCoins, withApp, withChain, withInfrastructure } from './with-infrastructure.ts'

type Comparison = Awaited<ReturnType<Awaited<ReturnType<typeof loadCoins>>['compareCoins']>>
type ComparedAddress = Comparison['differing'][number]

type CoinsFlags = { import?: true; writeOff?: string[]; from?: number; json?: true }

const isExplained = ({ differing }: Comparison) => differing.every(({ problems }) => problems.length === 0)

/** Compares and imports. `imported`: number of transactions, or null. `isChanged`: nothing was imported, because the database changed meanwhile. */
async function compare({ import: isImport, writeOff = [], from }: CoinsFlags) {
  const { compareCoins, importUnknown } = await loadCoins()
  return withInfrastructure((infrastructure) =>
    withChain(infrastructure, async ({ registry, treasury }) => {
      const { database } = infrastructure
      await registry.readChainId()
      const comparison = await compareCoins({
        ...{
          rpc: registry.rpc,
          database,
          treasury: treasury!.address,
          from,
          onProgress: out.createProgress('compared'),
        },
        writtenOff: new Set(writeOff),
      })
      if (!isImport || !isExplained(comparison)) return { comparison, imported: null, isChanged: false }
      const imported = await importUnknown(database, comparison)
      return { comparison, imported, isChanged: imported === null }
    }),
  )
}

const kindOf = ({ owner }: ComparedAddress, withdrawal: string | null) =>
  owner !== undefined ? 'sweep' : withdrawal === null ? 'payment' : 'withdrawal'

function present({ block, agreeing, differing }: Comparison) {
  return {
    block,
    agreeing,
    differing: differing.map((address) => ({
      address: address.address,
      user: address.owner === undefined ? null : toId('user', address.owner),
      booked: fromUnits(address.booked),
      expected: fromUnits(address.agreed),
      held: fromUnits(address.held),
      unknown: address.unknown.map(({ nonce, hash, to, arrived, fee, blockNumber: at, claim }) => {
        const withdrawal = claim ? toId('withdrawal', claim.id) : null
        return {
          ...{ nonce, transaction: hash, kind: kindOf(address, withdrawal), withdrawal, to },
          ...{ arrived: fromUnits(arrived), fee: fromUnits(fee), block: at },
        }
      }),
      problems: address.problems,
    })),
  }
}

function printComparison({ block, agreeing, differing }: ReturnType<typeof present>) {
  out.report(
    `Compared at block ${block}: database and chain agree at ${out.counted(agreeing, 'address', 'addresses')}.`,
  )
  if (differing.length === 0) return
  const addresses = differing.map((row) => ({
    ...{ ...row, owner: row.user ?? 'treasury', database: row.booked, chain: row.held },
    unknownTransactions: row.unknown.length,
  }))
  out.printTable(addresses, 'address', 'owner', 'database', 'expected', 'chain', 'unknownTransactions')
  const unknown = differing.flatMap((row) => row.unknown)
  if (unknown.length > 0) {
    out.print('')
    out.printTable(unknown, 'transaction', 'nonce', 'kind', 'withdrawal', 'to', 'arrived', 'fee', 'block')
  }
  for (const { address, problems } of differing)
    for (const problem of problems) out.report(out.red(`${address}: ${problem}`))
}

/** Maximum number of listed frozen deposits. */
const LISTED = 100

async function settleDeposits({ collect, writeOff }: Flags<never, 'collect' | 'writeOff'>) {
  const { collectShortfall, listFrozenDeposits, writeOffShortfall } = await loadCoins()
  return withApp(async (layer) => {
    const context = asSystem(layer.context)
    const collected = collect === undefined ? null : await collectShortfall(context, { id: collect })
    const writtenOff = writeOff === undefined ? null : await writeOffShortfall(context, { id: writeOff })
    const frozen = (await listFrozenDeposits(context, LISTED)).map((row) => ({
      ...{ id: toId('deposit', row.id), user: toId('user', row.wallet_id), reference: row.reference },
      ...{ amount: row.amount, shortfall: row.shortfall, writtenOff: row.written_off, held: row.held },
      ...{ isBack: row.block_number !== null, frozenAt: row.frozen_at },
    }))
    return { collected, writtenOff, frozen }
  })
}

type CreditFlags = Flags<'user' | 'amount' | 'reason'>

async function creditDeposit(hash: string, { user, amount, reason }: CreditFlags) {
  const { createDepositLedger, creditTransaction } = await loadCoins()
  const { accountWithReason, findAccount } = await import('../modules/accounts/find-users.ts')
  const { parse, positiveAmount } = await import('../shared/input.ts')
  const input = parse(accountWithReason.extend({ amount: positiveAmount }), { userId: user, amount, reason })
  return withInfrastructure(async (infrastructure) => {
    // An ID also finds a deleted account, whose last treasury sweep may have moved the coins.
    const userId = fromId(input.userId, 'user')?.uuid ?? (await findAccount(infrastructure, input.userId))
    if (userId === undefined) throw notFound('User')
    return withChain(infrastructure, async ({ registry }) => {
      const { id, blockNumber, isTraced } = await creditTransaction(
        {
          ...{ registry, database: infrastructure.database, ledger: createDepositLedger(infrastructure) },
          confirmations: infrastructure.config.chain.depositConfirmations,
        },
        { transactionHash: hash, userId, amount: input.amount, reason: input.reason },
      )
      return {
        ...{ id: toId('deposit', id), userId: toId('user', userId), amount: formatAmount(input.amount) },
        ...{ transactionHash: hash, blockNumber, isTraced },
      }
    })
  })
}

export function addCoinsCommands(program: Command): void {
  command(program, 'coins', {
    description:
      'Compares the coins in the database with the chain, address by address. After a restore it imports transactions that only the chain knows.',
    examples: ['annal coins', 'annal coins --import', 'annal coins --from 19000000 --json'],
    notes:
      'Changes nothing without --import. Exits with 0 if database and chain agree, or agree after the import, else with 1.',
    json: '{"block", "agreeing", "differing", "imported"}',
  })
    .option('--import', 'imports the unknown transactions, if they explain all differences')
    .option(
      '--write-off <transaction>',
      'imports a payment without a matching withdrawal as a loss of the platform; can be repeated',
      (text: string, previous: string[] = []) => [...previous, transactionHash(text)],
    )
    .option('--from <block>', 'first block to search, if the node has no state of older blocks', integer(0))
    .action(async ({ json, ...flags }: CoinsFlags) => {
      const { comparison, imported, isChanged } = await compare(flags)
      const isEqual = comparison.differing.length === 0
      if (!isEqual && imported === null) out.fail()
      const shown = present(comparison)
      if (json) return out.printJson({ ...shown, imported })
      printComparison(shown)
      if (isEqual) return out.report(out.green('Database and chain agree.'))
      if (isChanged) return out.report(out.red('The database changed during the comparison. Run the command again.'))
      if (!isExplained(comparison))
        return out.report(out.red('The unknown transactions do not explain all differences. Nothing was imported.'))
      if (imported === null)
        return out.report('The unknown transactions explain all differences. Import them with --import.')
      out.report(out.green(`${out.counted(imported, 'transaction was', 'transactions were')} imported.`))
    })

  const deposits = command(program, 'deposits', {
    description:
      'Lists frozen deposits: credited deposits whose transaction is no longer on the chain. Settles what users owe for them.',
    examples: [
      'annal deposits',
      'annal deposits --collect deposit_01h2xcejqtf2nbrexx3vqjhp41',
      'annal deposits --write-off deposit_01h2xcejqtf2nbrexx3vqjhp41',
    ],
    notes:
      'The amount of a frozen deposit is not available in the wallet. Annal credits it again when the transaction is back on the chain.',
    json: '{"collected", "writtenOff", "frozen"}',
  })
    .option('--collect <deposit>', 'collects the shortfall of a frozen deposit from the wallet, up to its balance')
    .option('--write-off <deposit>', 'writes off what the user owes for a frozen deposit')
    .action(async (flags: Flags<never, 'collect' | 'writeOff'>) => {
      const { collected, writtenOff, frozen } = await settleDeposits(flags)
      if (flags.json) return out.printJson({ collected, writtenOff, frozen })
      if (collected !== null) out.report(`Collected ${collected} from the wallet.`)
      if (writtenOff !== null) out.report(`Wrote off ${writtenOff}.`)
      if (frozen.length === 0) return out.report(out.green('No deposit is frozen.'))
      const columns = ['id', 'user', 'amount', 'shortfall', 'writtenOff', 'held', 'isBack', 'frozenAt'] as const
      out.printTable(frozen, ...columns, 'reference')
      out.report(out.red(`${out.counted(frozen.length, 'deposit is', 'deposits are')} frozen.`))
    })

  command(deposits, 'credit', {
    description: 'Credits coins that Annal cannot see, for example coins that a contract sent, once per transaction.',
    examples: [
      'annal deposits credit 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060 --user ada --amount 1.5 --reason "Paid by an exchange"',
    ],
    notes:
      'The transaction must be final, and the address must hold the coins. If the node can trace transactions, recipient and amount are compared too.',
    json: '{"id", "userId", "amount", "transactionHash", "blockNumber", "isTraced"}',
  })
    .argument('<transaction>', 'hash of the transaction that sent the coins', transactionHash)
    .requiredOption('--user <user>', 'ID, e-mail address or username of the user who receives the deposit')
    .requiredOption('--amount <amount>', 'amount that the transaction sent to the address of the user, such as 0.5')
    .requiredOption('--reason <text>', 'reason for the audit log, at most 500 characters')
    .action(async (hash: string, { json, ...flags }: CreditFlags) => {
      const deposit = await creditDeposit(hash, flags).catch(
        nameOptions({ userId: '--user', amount: '--amount', reason: '--reason' }),
      )
      if (json) return out.printJson(deposit)
      out.printRows(Object.entries(deposit))
      if (!deposit.isTraced)
        out.report(
          'The node does not trace transactions, so only the balance of the address was compared with the amount.',
        )
      out.report(out.green('The deposit was credited.'))
    })
}
