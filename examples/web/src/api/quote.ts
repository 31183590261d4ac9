import { useEffect, useState } from 'react'
import { type TypedDocumentNode, useQuery } from 'urql'

const SETTLED_AFTER_MS = 300

/** A text once it has not changed for a while, so that not every keystroke asks the server. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/**
 * What a mutation would cost with this input, and what it would be refused for, asked for while somebody types. `isOld`: the quote
 * is of an earlier input, and another one is on its way. `mayPay`: it is of this one, and nothing stands in the way. `askAgain`,
 * when the mutation was refused: the price may be another one by now.
 */
export function useQuote<Input, Quote extends { problems: readonly unknown[] }>(
  query: TypedDocumentNode<{ quote: Quote }, { input: Input }>,
  input: Input,
  { pause = false }: { pause?: boolean } = {},
) {
  const text = JSON.stringify(input)
  const isSettled = useSettled(text) === text
  const [{ data, fetching }, execute] = useQuery({
    query,
    variables: { input },
    pause: pause || !isSettled,
    requestPolicy: 'network-only',
  })
  const quote = data?.quote
  const isOld = !isSettled || fetching
  const askAgain = () => execute()
  return { quote, isOld, mayPay: !isOld && quote?.problems.length === 0, askAgain }
}
