/** The colours of all pages, by day and by night. Text has a contrast of 4.5 at least on what it stands on, all else one of 3. */
export const palette = `
:root { color-scheme: light dark; --text: #1b1f24; --ground: #ffffff; --quiet: #57606a; --line: #6e7781; --field: #ffffff; --box: #f3f4f6; --accent: #0b57d0; --on-accent: #ffffff; --problem: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --ground: #14171a; --quiet: #a8b0b8; --line: #8b949e; --field: #1f2428; --box: #24292f; --accent: #8ab4f8; --on-accent: #14171a; --problem: #ff9c94; --good: #6fdd8b; } }
`
