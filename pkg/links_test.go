package pkg_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const indexPage = "docs/README.md"

var (
	markdownLink = regexp.MustCompile(`\[[^\]]*\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)`)
	inlineCode   = regexp.MustCompile("`[^`]*`")
	heading      = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	noSlug       = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
	elsewhere    = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
)

// page is what the link check needs of one Markdown file.
type page struct {
	links   []string // targets as written
	anchors []string // headings as link fragments
}

// readPage finds links and headings outside code.
func readPage(text string) page {
	var p page
	seen := map[string]int{}
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		}
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fence = trimmed[:3]
			continue
		}
		if title := heading.FindStringSubmatch(line); title != nil {
			p.anchors = append(p.anchors, slug(title[1], seen))
		}
		for _, link := range markdownLink.FindAllStringSubmatch(inlineCode.ReplaceAllString(line, ""), -1) {
			p.links = append(p.links, link[1])
		}
	}
	return p
}

// slug turns a heading into the fragment that Git hosts give it; a repeated heading gets a number.
func slug(title string, seen map[string]int) string {
	s := noSlug.ReplaceAllString(strings.ToLower(strings.ReplaceAll(title, "`", "")), "")
	s = strings.ReplaceAll(s, " ", "-")
	seen[s]++
	if n := seen[s]; n > 1 {
		return fmt.Sprintf("%s-%d", s, n-1)
	}
	return s
}

// linkComplaints checks README.md and everything below docs: each relative link leads to a file, and its fragment to
// a heading; each page below docs can be reached from the index.
func linkComplaints(tree fs.FS) ([]string, error) {
	pages, err := readPages(tree)
	if err != nil {
		return nil, err
	}
	var complaints []string
	next := map[string][]string{}
	for name, p := range pages {
		for _, link := range p.links {
			if elsewhere.MatchString(link) {
				continue
			}
			target, fragment, _ := strings.Cut(link, "#")
			if target == "" {
				target = name
			} else {
				target = path.Join(path.Dir(name), target)
			}
			if _, err := fs.Stat(tree, target); err != nil {
				complaints = append(complaints, fmt.Sprintf("%s: dead link %s", name, link))
				continue
			}
			to, known := pages[target]
			if fragment != "" && known && !slices.Contains(to.anchors, fragment) {
				complaints = append(complaints, fmt.Sprintf("%s: link %s names no heading", name, link))
			}
			next[name] = append(next[name], target)
		}
	}
	complaints = append(complaints, orphans(pages, next)...)
	slices.Sort(complaints)
	return complaints, nil
}

// orphans names the pages below docs that no chain of links reaches from the index.
func orphans(pages map[string]page, next map[string][]string) []string {
	reached := map[string]bool{indexPage: true}
	queue := []string{indexPage}
	for len(queue) > 0 {
		for _, target := range next[queue[0]] {
			if !reached[target] {
				reached[target] = true
				queue = append(queue, target)
			}
		}
		queue = queue[1:]
	}
	var complaints []string
	for name := range pages {
		if strings.HasPrefix(name, "docs/") && !reached[name] {
			complaints = append(complaints, name+": orphan, no link leads here from "+indexPage)
		}
	}
	return complaints
}

func readPages(tree fs.FS) (map[string]page, error) {
	names, err := fs.Glob(tree, "README.md")
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(tree, "docs", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	pages := map[string]page{}
	for _, name := range names {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		pages[name] = readPage(string(text))
	}
	return pages, nil
}

func TestDocumentationHasNoOrphanAndNoDeadLink(t *testing.T) {
	complaints, err := linkComplaints(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range complaints {
		t.Error(complaint)
	}
}

func TestPlantedLinkFaultIsFound(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{
		"README.md": file("[docs](docs/README.md) [gone](docs/gone.md)\n"),
		indexPage: file("# Index\n[a](a.md#first-part) [b](./sub/b.md) [out](https://example.com/x) [top](#index)\n" +
			"`[code](code.md)`\n```\n[fence](fence.md)\n```\n[bad](a.md#third-part) [folder](sub) [nothing](#nowhere)\n"),
		"docs/a.md":     file("# A\n## First part\n## First part\n[second](#first-part-1) [c](sub/c.md \"title\")\n"),
		"docs/sub/b.md": file("[up](../a.md) [dead](a.md)\n"),
		"docs/sub/c.md": file("reached over a\n"),
		"docs/sub/d.md": file("[index](../README.md)\n"),
		"docs/e.png":    file("no page"),
	}
	got, err := linkComplaints(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"README.md: dead link docs/gone.md",
		"docs/README.md: link #nowhere names no heading",
		"docs/README.md: link a.md#third-part names no heading",
		"docs/sub/b.md: dead link a.md",
		"docs/sub/d.md: orphan, no link leads here from docs/README.md",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
