import { type Mutant, mutantsOf } from './mutant.ts'

const COINS = ['processes/coins.processes.ts']

export const chain: Mutant[] = [
  ...mutantsOf(
    'src/chain/foreign/commits.ts',
    ['processes/foreign-commits.processes.ts'],
    [
      [
        'foreign.named-first',
        'Nothing is read for all files before all are known.',
        `if (hasNamed && trail[0].hash === first) return BETWEEN_MS`,
        ``,
      ],
      ['foreign.pages', 'All files are gone through, however many there are.', `after = row!.last`, `after = null`],
      [
        'foreign.forget-pages',
        'All is forgotten that the chain has lost, however much it is.',
        `count = row!.count`,
        `count = row!.count - 1`,
      ],
      [
        'foreign.young',
        'Of a registry that is not young, each file’s past is read.',
        `first = before?.hash`,
        `first = from.hash`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/foreign/find.ts',
    ['processes/foreign-commits.processes.ts'],
    [
      [
        'foreign.narrow',
        'After a node did not answer for so many blocks, fewer are asked for.',
        'const isLess = range.refused(asked)',
        'const isLess = error instanceof RpcError && range.refused(asked)',
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/read-at-most.ts',
    ['chain/rpc.test.ts'],
    [
      [
        'rpc.longest-answer',
        'An answer of a node has a longest length.',
        'if (size > mostBytes) throw',
        'if (size < 0) throw',
      ],
    ],
  ),
  ...mutantsOf('src/chain/coins/plan.ts', COINS, [
    [
      'chain.coins-dust',
      'Coins are gathered once the fee is at most a hundredth of them.',
      `DUST_FACTOR = 100n`,
      `DUST_FACTOR = 2n`,
    ],
    [
      'chain.coins-remainder',
      'What is gathered costs its sender what lies there, and leaves nothing.',
      `value: amount - TRANSFER_GAS * gasPrice`,
      `value: amount - 2n * TRANSFER_GAS * gasPrice`,
    ],
    [
      'chain.coins-ladder',
      'Dearer transactions are signed before they are needed.',
      `return [...prices, cap]`,
      `return prices.slice(0, 1)`,
    ],
  ]),
  ...mutantsOf(
    'src/chain/coins/unknown.ts',
    ['processes/coins-restore.processes.ts'],
    [
      [
        'chain.unknown-fee-below',
        'What a chain takes for the one below it is part of the fee of what only the chain knows of.',
        `fee: feeOf(placed)`,
        `fee: feeOf({ ...placed, l1Fee: '0x0' })`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/coins/compare.ts',
    ['processes/coins-restore.processes.ts'],
    [
      [
        'chain.compare-unclaimed',
        'A payment that no withdrawal asks for is taken into the books only where the operator says so.',
        `!claim && !borne.has(hash)`,
        `!claim && !hash`,
      ],
      [
        'chain.compare-strange',
        'What went to somebody else is not taken for gathered.',
        `unknown.filter(({ to }) => !isTreasury.has(to))`,
        `unknown.filter(({ to }) => !to)`,
      ],
      [
        'chain.compare-claims',
        'Each withdrawal that waits is found among the payments.',
        `toUnits(amount) === payment.value`,
        `toUnits(amount) === payment.fee`,
      ],
    ],
  ),
  ...mutantsOf('src/chain/coins/addresses.ts', COINS, [
    [
      'chain.coins-taken',
      'What other moves take from an address is not free for one that is set aside.',
      `nonce >= count).reduce((free, { amount }) => free - amount`,
      `nonce >= count).reduce((free, { amount }) => free - 0n * amount`,
    ],
  ]),
  ...mutantsOf('src/cli/with-installation.ts', COINS, [
    [
      'chain.coins-operator',
      'An operator who deletes an account signs for its coins.',
      `openServices(installation, chain.chainCoins)`,
      `openServices(installation, { ...chain.chainCoins, planLast: async () => [] })`,
    ],
    [
      'chain.operator-elsewhere',
      'An operator beside another chain deletes no account, whose coins there would be lost.',
      `if (error instanceof WrongChainError) throw error`,
      `if (error === WrongChainError) throw error`,
      ['parity/acting-for-people.test.ts'],
    ],
  ]),
  ...mutantsOf('src/chain/coins/last.ts', COINS, [
    [
      'chain.coins-not-credited',
      'A deletion signs for coins that were not credited yet.',
      `if (isAdded) add(others, false)`,
      `if (isAdded) add(0n * others, false)`,
    ],
    [
      'chain.coins-lost-one',
      'A deletion signs also for what is left when the chain loses some deposits.',
      `of isBooked ? lessenedBy`,
      `of isBooked && seen.count < 0 ? lessenedBy`,
    ],
    [
      'chain.coins-behind',
      'What a deletion signs stands at the nonce of the move that is set aside.',
      `moves.length === 0 ? aside : undefined`,
      `moves.length < 0 ? aside : undefined`,
    ],
    [
      'chain.coins-offline',
      'A deletion signs for what the books know where no node answers.',
      `return row && { chainId`,
      `return row && undefined && { chainId`,
    ],
  ]),
  ...mutantsOf(
    'src/chain/coins/withdraw.ts',
    ['processes/withdrawals.processes.ts'],
    [
      [
        'chain.treasury-short',
        'Nothing is signed for that the treasury cannot pay.',
        `treasury.free < amount + larger(fee, gasLimit * price)`,
        `treasury.free < 0n * (amount + larger(fee, gasLimit * price))`,
      ],
      [
        'chain.payment-gas-when-signed',
        'Nothing is signed for that needs more gas than a payment may.',
        `if (gasLimit > most)`,
        `if (gasLimit > 1000n * most)`,
      ],
      [
        'chain.treasury-sum',
        'The operator is told of all that the treasury is short of.',
        `missing > 0n`,
        `missing < 0n`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/coins/check.ts',
    ['processes/coins.processes.ts'],
    [
      [
        'chain.looked-at-again',
        'Coins that a move took from an address between a look at the books and one at the chain are not missing.',
        `seemed.filter(({ address }) => lacking.has(address))`,
        `[...seemed]`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/block-trail.ts',
    ['processes/deposits-reorg.processes.ts'],
    [
      [
        'chain.fork-of-a-syncing-node',
        'A node that shows no blocks freezes no deposit.',
        `number <= head.number && canonical`,
        `number < 0 && canonical`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/coins/follow.ts',
    ['processes/withdrawals.processes.ts'],
    [
      [
        'chain.move-behind',
        'Coins in a block are not taken back because a node is behind others.',
        `now - since >= doubtPatience`,
        `now - since >= 0`,
      ],
      [
        'chain.move-behind-again',
        'Coins that were sent again are not taken back at once because a node is still behind.',
        `      parts.memory.lackingSince.delete(transactionHash)
`,
        ``,
      ],
      [
        'chain.move-lost',
        'Coins in a block that the chain lost are sent again also where it has none so high any more.',
        `now - since >= doubtPatience`,
        `since < 0`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/coins/send.ts',
    ['processes/withdrawals.processes.ts'],
    [
      [
        'chain.dearest-for-nothing',
        'What cannot get in at any price is not offered the highest.',
        `  if (ladder[dearest]!.gasPrice < view.nextBaseFee) return ladder[Math.max(current, 0)]!.hash
`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/coins/fill.ts',
    ['processes/withdrawals.processes.ts'],
    [
      [
        'chain.nonce-given-up',
        'A nonce of the treasury is given up when no block has room for what is signed at it.',
        `>= REFUSALS`,
        `>= 1000 * REFUSALS`,
      ],
      [
        'chain.filler-prices',
        'What takes the place of a payment is signed at each price of it.',
        `    prices.map(`,
        `    prices.slice(0, 1).map(`,
      ],
      [
        'chain.nonce-given-up-early',
        'A nonce of the treasury is given up only after many refusals.',
        `const REFUSALS = 10`,
        `const REFUSALS = 1`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/coins/quote.ts',
    ['processes/withdrawals.processes.ts'],
    [
      [
        'chain.payment-gas',
        'Nothing is paid to what needs more gas than a payment may.',
        `if (gas > mostGas(view))`,
        `if (gas > 1000n * mostGas(view))`,
      ],
      [
        'chain.payment-gas-endless',
        'A recipient for which no gas is enough takes no coins.',
        `/revert|out ?of ?gas|gas required exceeds/i`,
        `/revert/i`,
      ],
    ],
  ),
  ...mutantsOf('src/chain/coins/follow.ts', COINS, [
    [
      'chain.coins-displaced',
      'A move whose block is gone is sent again.',
      `isGone({ number, hash }, canonical, head)`,
      `isGone({ number, hash: canonical.get(number) ?? hash }, canonical, head)`,
    ],
    [
      'chain.refused-early',
      'What a recipient refused is given back once no reorganisation can pay it besides.',
      `(hasArrived ? parts.confirmations : depth)`,
      `(hasArrived ? parts.confirmations : parts.confirmations)`,
      ['processes/withdrawals.processes.ts'],
    ],
    [
      'chain.coins-fee-below',
      'What a chain takes for the one below it is part of the fee of a move.',
      `fee: feeOf(receipt)`,
      `fee: feeOf({ ...receipt, l1Fee: '0x0' })`,
      ['processes/withdrawals.processes.ts'],
    ],
  ]),
  ...mutantsOf('src/chain/coins/mover.ts', COINS, [
    [
      'chain.coins-starved',
      'Moves that can never succeed keep no other from being sent.',
      `if (parts.stopping.aborted) break`,
      `if (parts.stopping.aborted || hasMoves) break`,
    ],
    ['chain.coins-earlier', 'Coins at an earlier treasury are told of.', `await tellEarlierTreasuries(parts)`, ``],
  ]),
  ...mutantsOf(
    'src/domain/keyset-pages.ts',
    ['domain/keyset-pages.test.ts'],
    [['chain.pages-on', 'After a whole page there may be another.', `rows.length < limit`, `rows.length <= limit`]],
  ),
  ...mutantsOf(
    'src/chain/coins/treasury.ts',
    ['processes/withdrawals.processes.ts'],
    [
      [
        'chain.treasury-behind',
        'Nothing is signed where the chain knows of more than the database.',
        `const known = Math.max(nextNonce, first)`,
        `const known = Math.max(nextNonce, sent, first)`,
      ],
      [
        'chain.treasury-on-its-way',
        'Nothing is signed where the node has more on its way than the database knows.',
        `(Number.isFinite(pending) && pending > known)`,
        `false`,
        ['processes/treasury-restore.processes.ts'],
      ],
      [
        'chain.treasury-earlier',
        'Nothing is signed where the treasury of before paid what the database does not know.',
        `return sentOn.length < each.missing.length`,
        `return sentOn.length < 0`,
        ['processes/treasury-restore.processes.ts'],
      ],
      [
        'chain.treasury-sought-once',
        'What waits for an operator does not ask the node for old blocks all the time.',
        `if (earlier?.missing === missing && performance.now()`,
        `if (earlier?.missing === address && performance.now()`,
        ['processes/treasury-restore.processes.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/treasury-statements.ts',
    ['processes/treasury-restore.processes.ts'],
    [
      [
        'chain.treasury-place',
        'A treasury that takes the place of another one has sent nothing that the database may leave out.',
        `then 0 else $count end::text`,
        `then $count else $count end::text`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/coins/overtaken.ts',
    ['processes/treasury-restore.processes.ts'],
    [
      [
        'chain.coins-overtaken',
        'A payment is told of that can never arrive.',
        `nonce < counts.get(sender)!`,
        `nonce < 0 * counts.get(sender)!`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/coins/compare.ts',
    ['processes/treasury-restore.processes.ts'],
    [
      [
        'chain.compare-place',
        'What a treasury paid that took the place of another one since the backup is found.',
        `rows.some(({ first }) => first !== null) ? 0 : null`,
        `null`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/foreign/find.ts',
    ['processes/foreign-commits.processes.ts'],
    [
      [
        'foreign.own',
        'What an account of ours wrote is no commit by others.',
        `commits.filter(({ recorder }) => !own.has(recorder))`,
        `commits`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/foreign/log.ts',
    ['processes/foreign-commits.processes.ts'],
    [
      ['foreign.bound', 'Of what others write a bounded part is kept.', `Math.min(dataBytes, KEPT_BYTES)`, `dataBytes`],
      ['foreign.null', 'Bytes that the database cannot keep stop nothing.', `.replaceAll('\\0', '\\uFFFD')`, ''],
    ],
  ),
  ...mutantsOf(
    'src/chain/foreign/statements.ts',
    ['processes/foreign-commits.processes.ts'],
    [
      [
        'foreign.earlier-account',
        'An account that carried commits of ours is ours, configured or not.',
        `where r.lane = item.recorder`,
        `where false`,
      ],
      [
        'foreign.reorganisation',
        'What the chain has lost is not told any more.',
        `from foreign_commits where block_number > $height`,
        `from foreign_commits where false`,
      ],
      [
        'foreign.many',
        'Of one file a bounded number is kept.',
        'from found_commits where place <= ',
        'from found_commits where true or place <= ',
      ],
      [
        'foreign.named',
        'Once the operator names an account as ours, nothing of it is told.',
        `f.nid = page.nid and f.recorder = any ($own)`,
        `false`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/block-trail.ts',
    ['processes/deposits-reorg.processes.ts'],
    [
      [
        'chain.put-back',
        'A chain that was put back is read from where it goes another way, also while it is shorter.',
        `head.time !== undefined && head.time > time`,
        `head.time !== undefined && head.time > time + 1e9`,
      ],
      [
        'chain.put-back-as-long',
        'A chain that was put back is read from where it goes another way, also when it is exactly as long again.',
        `return passed.hash !== head.hash`,
        `return false`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/deposits/deposits.ts',
    ['processes/deposits.processes.ts'],
    [
      [
        'chain.deposits-silent',
        'A node that never has the next block is told of.',
        `if (lackingLooks > LACKING_LOOKS) throw`,
        `if (lackingLooks > LACKING_LOOKS * 1_000_000) throw`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/deposits/balances.ts',
    ['processes/deposits-reorg.processes.ts'],
    [
      [
        'chain.balances-another',
        'What is known to have come in is not held against a chain that has changed since.',
        `if (!block || (passed && passed.hash !== block.hash)) return`,
        `if (!block) return`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/deposits/finder.ts',
    ['processes/deposits-contract.processes.ts'],
    [
      [
        'chain.spending-fee',
        'What a wallet’s own key spends is known with its fee.',
        `fromUnits(moved + feeOf(receipt))`,
        `fromUnits(moved)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/deposits/finder.ts',
    ['processes/deposits-token.processes.ts'],
    [
      [
        'chain.token-any',
        'Only events of the configured token count.',
        `params: [{ blockHash: hash, address: token, topics`,
        `params: [{ blockHash: hash, topics`,
      ],
      [
        'chain.token-name',
        'A token’s deposit has the same name in whatever block its transaction is.',
        `const position = seen.get(transactionHash) ?? 0`,
        `const position = seen.size`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/check-chain.ts',
    ['processes/check-chain.processes.ts'],
    [
      [
        'chain.check-lost',
        'A commit that the chain lost is named.',
        `row.status === 'INCLUDED' || row.status === 'FINAL'`,
        `row.status === 'INCLUDED'`,
      ],
      [
        'chain.check-twice',
        'A commit that is there twice is named.',
        `same.length > wanted)`,
        `same.length > wanted + 1)`,
      ],
      [
        'chain.check-outcome',
        'A deposit of tokens is named whose transaction brings something else.',
        `row.position === null || bringsTokens`,
        `row.position !== -1 || bringsTokens`,
      ],
    ],
  ),
]
