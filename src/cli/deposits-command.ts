/** `annal deposits`. */
import { type Command, InvalidArgumentError } from 'commander'
import { command } from './command.ts'
import { nameOptions } from './name-options.ts'
import { counted, green, print, printJson, red, say, table } from './output.ts'
import { publicUrlOf, withInstallation, withServices } from './with-installation.ts'

interface DepositsFlags {
  collect?: string
  writeOff?: string
  json?: true
}

/** Frozen deposits that are listed. */
const LISTED = 100

async function readDeposits({ collect, writeOff }: DepositsFlags) {
  const { toId } = await import('../shared/ids.ts')
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

/** Throws InvalidArgumentError. */
const transactionHash = (text: string) => {
  if (!/^0x[\da-f]{64}$/i.test(text)) throw new InvalidArgumentError('Expected the hash of a transaction.')
  return text.toLowerCase()
}

interface CreditFlags {
  user: string
  amount: string
  reason: string
  json?: true
}

async function creditByHand(hash: string, { user, amount, reason }: Omit<CreditFlags, 'json'>) {
  const { creditTransaction } = await import('../modules/coins/deposits/credit.ts')
  const { connectChain } = await import('../chain/connect-chain.ts')
  const { createFindAccount, withReason } = await import('../modules/accounts/account-lookup.ts')
  const { notFound } = await import('../shared/errors.ts')
  const { fromId, toId } = await import('../shared/ids.ts')
  const { parse, positiveAmount } = await import('../shared/input.ts')
  const { formatAmount } = await import('../shared/money.ts')
  const { createDepositBooks } = await import('../modules/coins/deposit-books.ts')
  const input = parse(withReason.extend({ amount: positiveAmount }), { userId: user, amount, reason })
  return withInstallation(async (installation) => {
    const { database, config } = installation
    const findAccount = createFindAccount({ database, verifiesAddresses: config.emailVerification !== 'off' })
    // Coins of a deleted account count, too: its last sweep may have brought them to the treasury.
    const userId = fromId(input.userId, 'user')?.uuid ?? (await findAccount(input.userId))
    if (userId === undefined) throw notFound('User')
    const chain = await connectChain(installation, publicUrlOf(installation))
    try {
      const options = {
        registry: chain.registry,
        books: createDepositBooks(installation),
        confirmations: config.chain.depositConfirmations,
      }
      const request = { transactionHash: hash, userId, amount: input.amount, reason: input.reason }
      const { id, blockNumber, isTraced } = await creditTransaction(options, request)
      return {
        ...{ id: toId('deposit', id), userId: toId('user', userId), amount: formatAmount(input.amount) },
        ...{ transactionHash: hash, blockNumber, isTraced },
      }
    } finally {
      await chain.close()
    }
  })
}

function addCreditCommand(deposits: Command): void {
  command(
    deposits,
    'credit',
    'Credits coins that Annal cannot see, for example coins that a contract sent, once per transaction.',
    [
      'annal deposits credit 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060 --user ada --amount 1.5 --reason "Paid by an exchange"',
    ],
    'The transaction must be final, and the address must hold the coins. If the node can trace transactions, recipient and amount are compared too.',
  )
    .argument('<transaction>', 'hash of the transaction that sent the coins', transactionHash)
    .requiredOption('--user <user>', 'ID, e-mail address or username of the user who receives the deposit')
    .requiredOption('--amount <amount>', 'amount that the transaction sent to the address of the user, such as 0.5')
    .requiredOption('--reason <text>', 'reason for the audit log, at most 500 characters')
    .option('--json', 'prints {"id", "userId", "amount", "transactionHash", "blockNumber", "isTraced"}')
    .action(async (hash: string, { json, ...flags }: CreditFlags) => {
      const deposit = await creditByHand(hash, flags).catch(
        nameOptions({ userId: '--user', amount: '--amount', reason: '--reason' }),
      )
      if (json) return printJson(deposit)
      print(
        table([
          ['deposit', deposit.id],
          ['user', deposit.userId],
          ['amount', deposit.amount],
          ['transaction', deposit.transactionHash],
          ['block', String(deposit.blockNumber)],
        ]),
      )
      if (!deposit.isTraced)
        say('The node does not trace transactions, so only the balance of the address was compared with the amount.')
      say(green('The deposit was credited.'))
    })
}

/** Adds `annal deposits`. */
export function addDepositsCommand(program: Command): void {
  const deposits = command(
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
  addCreditCommand(deposits)
}
