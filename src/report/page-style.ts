/** How pages look, and the one script of a report: search, filter, and unfolding for print. */

/** Text has at least 4.5:1 on its ground, in light and dark. */
export const pageStyle = `
  :root { color-scheme: light dark; --ground: #fff; --text: #1b1d21; --dim: #565b63; --line: #d4d7dc; --panel: #f4f5f7;
    --create: #1a8f5f; --update: #2a6fd0; --delete: #c43434; --hold: #c77700; --adopt: #7b8290; --forget: #7b8290; --plain: #7b8290; }
  @media (prefers-color-scheme: dark) { :root { --ground: #15171b; --text: #e9eaec; --dim: #b3b8c1; --line: #3a3f47; --panel: #1f2329;
    --create: #36b37e; --update: #5b9bf3; --delete: #ef6a6a; --hold: #eda13a; } }
  * { box-sizing: border-box; }
  [hidden] { display: none !important; }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 0 auto; padding: 1rem; background: var(--ground); color: var(--text); overflow-wrap: break-word; }
  h1 { font-size: 1.35rem; line-height: 1.3; border-left: .4rem solid var(--tone); padding-left: .75rem; margin: 1rem 0 .25rem; overflow-wrap: anywhere; }
  h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
  h2::before, .counts li::before { content: ""; display: inline-block; width: .7rem; height: .7rem; margin-right: .5rem; border-radius: 50%; background: var(--tone); }
  summary { cursor: pointer; padding: .3rem 0; }
  summary h2 { display: inline; }
  .dim, .about { color: var(--dim); }
  .about { margin: 0 0 1rem; overflow-wrap: anywhere; }
  .note, .left { border-left: .4rem solid var(--hold); padding: .3rem .75rem; background: var(--panel); margin: .5rem 0; overflow-wrap: anywhere; }
  .left { font-weight: 600; }
  .bar { width: 100%; height: .9rem; border-collapse: collapse; table-layout: auto; margin: .75rem 0 .25rem; }
  .bar td { background: var(--tone); padding: 0; border: 0; border-right: 2px solid var(--ground); min-width: 4px; }
  .counts { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: .25rem 0 1rem; }
  .tools { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; background: var(--ground); padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .tools input { flex: 1 1 14rem; min-width: 0; }
  .tools input, .tools select { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--dim); border-radius: .3rem; padding: .3rem .5rem; }
  ::placeholder { color: var(--dim); opacity: 1; }
  .command { display: block; background: var(--panel); border: 1px solid var(--line); border-radius: .3rem; padding: .4rem .75rem; margin: .5rem 0; user-select: all; overflow-wrap: anywhere; font: .95rem ui-monospace, monospace; }
  .rows { border-collapse: collapse; width: 100%; }
  .rows th, .rows td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
  .rows th { font-weight: 600; color: var(--dim); white-space: nowrap; }
  .rows td { overflow-wrap: anywhere; min-width: 9rem; }
  .rows td:first-child { font-variant-numeric: tabular-nums; min-width: 6.5rem; }
  .rows .home { min-width: 12rem; }
  .rows .home > :first-child { font-weight: 600; }
  .rows .price { font-variant-numeric: tabular-nums; min-width: 8.5rem; overflow-wrap: break-word; }
  .pictures { display: flex; flex-wrap: wrap; gap: .3rem; align-items: center; margin-top: .3rem; }
  .pictures img { width: 7.5rem; height: 5.6rem; object-fit: cover; background: var(--panel); border: 1px solid var(--line); }
  .page { content-visibility: auto; contain-intrinsic-size: auto 2rem; }
  .ok, .create { --tone: var(--create); } .changes, .update { --tone: var(--update); } .failed, .delete { --tone: var(--delete); }
  .held, .partial, .hold, .warning { --tone: var(--hold); } .plain, .adopt, .forget { --tone: var(--adopt); }
  @media (max-width: 800px) {
    .rows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    .rows, .rows tbody, .rows tr, .rows td { display: block; width: auto; }
    .rows tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
    .rows td { border: 0; padding: 0; min-width: 0; }
    .rows td:empty { display: none; }
  }
  @media print {
    :root { color-scheme: light; --ground: #fff; --text: #000; --dim: #444; --line: #bbb; --panel: #fff; }
    body { max-width: none; padding: 0; font-size: 10pt; }
    .tools { display: none; }
    .rows thead { display: table-header-group; }
    .rows tr, .note, .left { break-inside: avoid; }
    h2 { break-after: avoid; }
    .page { content-visibility: visible; }
  }
`

export const pageScript = `
  const [search, kind, found] = ['search', 'kind', 'found'].map((id) => document.getElementById(id))
  const rows = [...document.querySelectorAll('tr.row')]
  const parts = [...document.querySelectorAll('.page, section, details.section')]
  const texts = new Map()
  const textOf = (row) => texts.get(row) ?? texts.set(row, row.textContent.toLowerCase()).get(row)
  const show = () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter((word) => word !== '')
    const all = words.length === 0 && kind.value === ''
    let count = 0
    for (const row of rows) {
      const is = all || ((kind.value === '' || row.classList.contains(kind.value)) && words.every((word) => textOf(row).includes(word)))
      row.hidden = !is
      if (is) count++
    }
    for (const part of parts) {
      const is = all || part.querySelector('tr.row:not([hidden])') !== null
      part.hidden = !is
      if (!all && is && count <= 1000 && part.localName === 'details') part.open = true
    }
    found.textContent = all ? '' : count + ' of ' + rows.length + ' rows'
  }
  search.addEventListener(rows.length > 20000 ? 'change' : 'input', show)
  kind.addEventListener('change', show)
  document.querySelector('.tools').hidden = rows.length < 2
  let closed = []
  addEventListener('beforeprint', () => { closed = [...document.querySelectorAll('details:not([open])')]; for (const one of closed) one.open = true })
  addEventListener('afterprint', () => { for (const one of closed) one.open = false })
`
