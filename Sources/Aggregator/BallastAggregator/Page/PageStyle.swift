extension StatusPage {
    /// Colours have a contrast of 4.5 and more on both grounds; none of them says anything alone.
    static let style = """
        :root { --ink: #17202a; --dim: #52606d; --line: #d5dce3; --card: #fff; --back: #f1f4f7; --ground: #e9eef3;
                --good: #08683e; --bad: #b3241a; --warn: #8a5200; --bar: #1f5fbf; --second: #a65a00; --hot: #b3241a;
                --heat0: #9db7d5; --heat1: #7fb3a6; --heat2: #a3b558; --heat3: #d0a43a; --heat4: #dd8433; --heat5: #d05a2c;
                --heat6: #b3241a; color-scheme: light dark; }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #e8edf2; --dim: #9fadba; --line: #2f3b48; --card: #17202a; --back: #0e141b; --ground: #22303d;
                  --good: #45d495; --bad: #ff8278; --warn: #f2b04a; --bar: #76a7f8; --second: #f2b04a; --hot: #ff8278;
                  --heat0: #4d6b8c; --heat1: #458577; --heat2: #7b8a36; --heat3: #ab8526; --heat4: #cf7427; --heat5: #e3612f;
                  --heat6: #ff6257; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--ink);
               font: 15px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
        a { color: var(--bar); } h1 a { color: inherit; text-decoration: none; }
        a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, [tabindex]:focus-visible {
          outline: 3px solid var(--bar); outline-offset: 2px; }
        .skip { position: absolute; left: -999px; }
        .skip:focus { left: 1rem; top: .3rem; background: var(--card); padding: .3rem .6rem; z-index: 2; }
        .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
        header { display: flex; flex-wrap: wrap; align-items: center; gap: .3rem 1.2rem; padding: .7rem 1.2rem; }
        .push { margin-left: auto; }
        nav { display: flex; gap: .3rem 1.1rem; flex-wrap: wrap; }
        nav a { padding: .2rem 0; text-decoration: none; border-bottom: 2px solid transparent; }
        nav a[aria-current] { color: var(--ink); font-weight: 600; border-color: var(--bar); }
        .tabs { border-top: 1px solid var(--line); padding-top: .5rem; margin-top: .3rem; }
        h1 { font-size: 1.2rem; margin: 0; } h2 { font-size: 1.1rem; margin: 0; }
        h3 { font-size: .95rem; font-weight: 600; margin: .8rem 0 .2rem; }
        p { margin: .4rem 0; }
        form#login, footer { padding: 0 1.2rem 1rem; } form#login section { max-width: 34rem; }
        form#login label { display: inline-block; margin: .6rem .4rem .6rem 0; }
        footer { color: var(--dim); font-size: .85rem; }
        [hidden] { display: none !important; }
        button, input, select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--dim);
                 border-radius: 6px; padding: .25rem .7rem; min-height: 2rem; max-width: 100%; }
        button { cursor: pointer; } button:hover { border-color: var(--bar); }
        button.main { background: var(--bar); color: var(--card); border-color: var(--bar); }
        dialog { max-width: min(92vw, 34rem); border: 1px solid var(--line); border-radius: 10px; background: var(--card);
                 color: var(--ink); }
        dialog::backdrop { background: rgb(0 0 0 / .45); }
        dialog#incidents { width: 92vw; max-width: 92vw; height: 92vh; }
        dialog label { display: block; margin: .6rem 0; } dialog label input { display: block; width: 100%; }
        dialog .top { justify-content: space-between; }
        iframe { width: 100%; height: 78vh; border: 0; background: #fff; }
        #incidents-list { max-height: 9rem; overflow-y: auto; margin: .5rem 0; }
        #incidents-list button { margin: .1rem .4rem .1rem 0; }
        main { display: grid; gap: 1rem; padding: 0 1.2rem 1.2rem; grid-template-columns: minmax(0, 1fr);
               max-width: 100rem; margin: 0 auto; }
        main#main:focus-visible { outline: none; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; }
        .top { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center; }
        .figures { display: flex; flex-wrap: wrap; gap: .5rem 2.2rem; margin: .8rem 0; }
        .figure b { display: block; font-size: 1.5rem; font-weight: 600; white-space: nowrap; }
        .figure b .old { font-weight: 400; }
        .dim, th, .figure span { color: var(--dim); font-size: .85rem; font-weight: 400; }
        th.name { color: var(--ink); font-size: inherit; font-weight: 600; }
        .figure b span { font-size: 1.5rem; }
        .tally { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; }
        .good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; } .warn { color: var(--warn); }
        .old { color: var(--dim); font-style: italic; }
        h2, h3, p, .notes, #dangers { overflow-wrap: anywhere; }
        .table { overflow-x: auto; } .notes { margin: .5rem 0; padding-left: .7rem; border-left: 3px solid var(--line);
                 overflow-wrap: anywhere; }
        table { border-collapse: collapse; width: 100%; margin-top: .4rem; }
        th, td { text-align: left; padding: .35rem 1.1rem .35rem 0; border-top: 1px solid var(--line);
                 white-space: nowrap; vertical-align: top; }
        thead th { border-top: 0; white-space: nowrap; }
        td.text { white-space: normal; min-width: 10rem; overflow-wrap: anywhere; }
        .events td:nth-child(4), .alarms td:nth-child(2) { min-width: 18rem; }
        .matrix th.name { white-space: normal; min-width: 11rem; overflow-wrap: anywhere; }
        .matrix td, .matrix th { padding-right: .8rem; } .matrix td.text { min-width: 9rem; }
        td.number { font-variant-numeric: tabular-nums; }
        .soc { display: inline-block; width: 4rem; height: .6rem; border-radius: .3rem; background: var(--line);
               overflow: hidden; margin-right: .5rem; }
        .soc i { display: block; height: 100%; background: var(--bar); }
        #dangers p { margin: 0; padding: .7rem 1.2rem; background: #a3150c; color: #fff; font-weight: 700; font-size: 1.1rem;
                     border-bottom: 2px solid #fff; overflow-wrap: anywhere; }
        #trends { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 0 2rem; }
        #trends > .top { grid-column: 1 / -1; }
        svg { width: 100%; height: auto; display: block; }
        svg text { fill: var(--dim); font-size: 14px; font-family: system-ui, sans-serif; }
        .table:has(> .tall) { max-height: 26rem; overflow-y: auto; } .tall thead th { position: sticky; top: 0; background: var(--card); }
        .mark { fill: #10161d; opacity: .8; }
        .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
        .line.first { stroke: var(--bar); } .line.second { stroke: var(--second); stroke-dasharray: 7 4; }
        .line.hot { stroke: var(--hot); stroke-dasharray: 2 3; }
        .band { stroke: none; opacity: .18; } .band.first { fill: var(--bar); } .band.second { fill: var(--second); }
        .band.hot { fill: var(--hot); } .grid { stroke: var(--line); vector-effect: non-scaling-stroke; }
        rect.out { fill: var(--bar); } rect.in { fill: var(--second); }
        .key { display: inline-flex; flex-wrap: wrap; gap: .2rem 1rem; margin-left: 1rem; font-weight: 400; color: var(--dim); font-size: .85rem; }
        .key i { display: inline-block; width: 1.4rem; border-top: 3px solid var(--bar); vertical-align: middle; margin-right: .4rem; }
        .key i.second { border-top: 3px dashed var(--second); } .key i.hot { border-top: 3px dotted var(--hot); }
        #cells { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 0 2rem; }
        #cells > h2, #cells > p { grid-column: 1 / -1; }
        .single.old svg { opacity: .45; } .strip svg { height: 34px; } .ground { fill: var(--ground); }
        .scale { white-space: nowrap; } .scale i { display: inline-block; width: 1.1rem; height: .8rem; vertical-align: middle; }
        .heat0 { fill: var(--heat0); background: var(--heat0); } .heat1 { fill: var(--heat1); background: var(--heat1); }
        .heat2 { fill: var(--heat2); background: var(--heat2); } .heat3 { fill: var(--heat3); background: var(--heat3); }
        .heat4 { fill: var(--heat4); background: var(--heat4); } .heat5 { fill: var(--heat5); background: var(--heat5); }
        .heat6 { fill: var(--heat6); background: var(--heat6); }
        @media (max-width: 700px) {
          .table:has(> .tall) { max-height: 32rem; }
          header, form#login, footer { padding-left: .8rem; padding-right: .8rem; }
          main { padding: 0 .5rem 1rem; gap: .6rem; } section { padding: .8rem; }
          .figures { gap: .4rem 1.4rem; } .figure b, .figure b span { font-size: 1.2rem; }
          .push { margin-left: 0; } header .push { margin-left: auto; }
          thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          tr { display: grid; grid-template-columns: 1fr 1fr; gap: 0 .8rem; border-top: 1px solid var(--line); padding: .5rem 0; }
          th, td { border: 0; padding: .1rem 0; white-space: normal; overflow-wrap: anywhere; min-width: 0 !important; }
          td::before { content: attr(data-label); display: block; color: var(--dim); font-size: .8rem; }
          .name { grid-column: 1 / -1; font-weight: 600; } .name::before { display: none !important; }
          td.text { grid-column: 1 / -1; }
          svg text { font-size: 15px; } .key { margin-left: 0; display: flex; }
        }
        @media (prefers-reduced-motion: no-preference) { .figure b { transition: color .3s; } }
        """
}
