import { useEffect, useState } from 'react'

const secondsUntil = (moment: string) => Math.max(0, Math.ceil((Date.parse(moment) - Date.now()) / 1000))

/**
 * The time that is left, by this machine's clock; whether it is over is for the server to say, whom `onEnd` asks. Screen readers
 * tell it when they are asked, not every second.
 */
export function Countdown({ until, onEnd }: { until: string; onEnd: () => void }) {
  const [left, setLeft] = useState(() => secondsUntil(until))
  useEffect(() => {
    const timer = setInterval(() => {
      const seconds = secondsUntil(until)
      setLeft(seconds)
      if (seconds > 0) return
      clearInterval(timer)
      onEnd()
    }, 1_000)
    return () => clearInterval(timer)
  }, [until, onEnd])
  const minutes = Math.floor(left / 60)
  return (
    <p role="timer" aria-live="off">
      {left > 0 ? `${minutes}:${String(left % 60).padStart(2, '0')} left to pay` : 'The time to pay is over.'}
    </p>
  )
}
