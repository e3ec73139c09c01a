"""How pages look: one sheet for all of them, in light and dark, wide and narrow.

The colours of series are told apart with any kind of colour vision (they keep to hues and lightnesses of Okabe and Ito,
"Color universal design", 2008), have at least 4.5 to 1 of contrast with the paper, and never stand alone: markers and
dashes differ too.
"""

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark; --ink: #1b2230; --faint: #5a6474; --line: #dde1e8; --paper: #fff; --shade: #f5f7fa;
  --good: #0a7355; --bad: #b3400a;
  --s0: #0b62a8; --s1: #b84a00; --s2: #0a7355; --s3: #8a3a94; --s4: #7d6200; --s5: #566070; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf1; --faint: #a3adbb; --line: #333c49; --paper: #12161d;
  --shade: #1a202a; --good: #4fd0a5; --bad: #ff9f63;
  --s0: #6db7f7; --s1: #ff9f63; --s2: #4fd0a5; --s3: #dca4e6; --s4: #e3c04a; --s5: #aab4c2; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--ink); background: var(--paper);
  margin: 0 auto; max-width: 58rem; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.8rem 0 .6rem; } h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
p { margin: .6rem 0; max-width: 44rem; } .sub, figcaption, .key { color: var(--faint); }
.kind { color: var(--faint); font-size: .8rem; letter-spacing: .06em; text-transform: uppercase; margin: 0 0 .4rem; }
.verdict { font-size: 1.08rem; background: var(--shade); border-left: 4px solid var(--s5); border-radius: 0 6px 6px 0;
  margin: 1.4rem 0; max-width: none; overflow-wrap: anywhere; padding: .7rem 1rem; }
.verdict.good { border-color: var(--good); } .verdict.bad { border-color: var(--bad); }
dl.tiles { display: grid; gap: .7rem; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); margin: 1.4rem 0; }
.tiles div { border: 1px solid var(--line); border-radius: 8px; display: flex; flex-direction: column;
  padding: .6rem .8rem .7rem; }
.tiles dt { color: var(--faint); font-size: .85rem; } .tiles dd { margin: 0; }
.tiles .big { font-size: 1.5rem; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.35; }
.tiles .small { color: var(--faint); font-size: .82rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; margin: .6rem 0; } .scroll:focus-visible { outline: 2px solid var(--s0); }
table { border-collapse: collapse; font-size: .94rem; font-variant-numeric: tabular-nums; }
.wide { width: 100%; } .dense .range { display: block; margin: 0; }
th, td { border-bottom: 1px solid var(--line); padding: .36rem 2rem .36rem 0; text-align: left; vertical-align: top; }
.wide td, .wide th { padding-right: 1.1rem; } .dense { font-size: .9rem; }
.dense td, .dense th { padding-right: .8rem; }
.dense tbody th, .dense thead th:first-child { background: var(--paper); left: 0; position: sticky; }
table th:last-child, table td:last-child { padding-right: 0; } tbody tr:hover { background: var(--shade); }
thead th { color: var(--faint); font-size: .84rem; font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 500; } .number { text-align: right; white-space: nowrap; } .nowrap { white-space: nowrap; }
thead .number { white-space: normal; }
.range { color: var(--faint); font-size: .86em; margin-left: .35em; white-space: nowrap; }
.id { color: var(--faint); display: block; font: .78rem ui-monospace, monospace; overflow-wrap: anywhere; }
.question { min-width: 13rem; overflow-wrap: anywhere; } code { font-size: .9em; overflow-wrap: anywhere; }
.none { color: var(--faint); }
details { border-top: 1px solid var(--line); padding: .5rem 0; } details + details { margin-top: 0; }
summary { cursor: pointer; font-weight: 500; padding: .15rem 0; }
summary:focus-visible { outline: 2px solid var(--s0); }
figure { margin: .8rem 0 1.6rem; } figcaption { font-size: .88rem; margin-top: .3rem; max-width: 44rem; }
.key { display: flex; flex-wrap: wrap; font-size: .9rem; gap: .15rem 1.3rem; margin: .4rem 0; max-width: none; }
.key span { align-items: center; display: inline-flex; gap: .45rem; }
.key svg { flex: none; height: 14px; width: 30px; }
figure svg { display: block; height: auto; width: 100%; }
svg text { fill: var(--faint); font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; }
svg text.name { fill: var(--ink); } svg text.halo { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
.s0 { color: var(--s0); } .s1 { color: var(--s1); } .s2 { color: var(--s2); }
.s3 { color: var(--s3); } .s4 { color: var(--s4); } .s5 { color: var(--s5); }
.mark { fill: currentColor; stroke: currentColor; } .curve { fill: none; stroke: currentColor; stroke-width: 2; }
.band { fill: currentColor; fill-opacity: .13; } .bar { fill: currentColor; fill-opacity: .85; }
.spot { fill: transparent; pointer-events: all; } g:hover > .spot { fill: currentColor; }
.grid { stroke: var(--line); } .axis { stroke: var(--faint); }
.threshold { stroke: var(--ink); stroke-dasharray: 5 4; stroke-width: 1.5; }
footer { border-top: 1px solid var(--line); color: var(--faint); font-size: .86rem; margin-top: 3rem; }
@media (max-width: 40rem) { body { padding: 1.5rem 1rem 3rem; } h1 { font-size: 1.4rem; }
  svg text { font-size: 20px; } dl.tiles { grid-template-columns: repeat(2, 1fr); } }
@media print { body { max-width: none; } details:not([open]) { display: none; } }
"""
